// The rival mechanisms through the front door.
#include "cli/photo.h"
#include "support/support.h"

namespace soft {
namespace {

using test::Outcome;
using test::run_soft;
using testing::HasSubstr;

TEST(Rivals, ImpossibleSettingsAreRefusedAtTheDoor) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"--attention", "reformer", "--set", "hash_rounds=0"}, "hash_rounds=0"},
      {{"--attention", "performer", "--set", "features=-1"}, "features=-1"},
      {{"--attention", "nystromformer", "--set", "landmarks=400"}, "fewer than landmarks=400"},
      {{"--attention", "performr"}, "did you mean 'performer'"},
  };
  for (auto [arguments, part] : cases) {
    arguments.insert(arguments.begin(), {"info", "soft-tiny"});
    const Outcome outcome = run_soft(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << part;
    EXPECT_THAT(outcome.err, HasSubstr(part));
  }
}

TEST(Rivals, TheNativeEngineSaysThatItHasNoneOfThem) {
  for (const char* attention : {"linformer", "performer", "nystromformer", "reformer"}) {
    const Outcome outcome =
        run_soft({"forward", "--model", "soft-nano", "--attention", attention, "--engine", "native",
                  "--input", kCat, "--output", "/dev/null"});
    EXPECT_EQ(outcome.exit_code, 1) << attention;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr(attention), HasSubstr("use --engine torch")));
  }
}

#if SOFT_WITH_TORCH
TEST(Rivals, RunInLibTorchByThemselvesInPyramidsAndFlatModels) {
  const std::pair<const char*, const char*> cases[] = {{"linformer", "soft-nano"},
                                                       {"performer", "vit-small-pre"},
                                                       {"nystromformer", "vit-small-384x12"},
                                                       {"reformer", "soft-nano"}};
  const test::TemporaryFolder folder;
  for (const auto& [attention, model] : cases) {
    const Outcome outcome = run_soft({"forward", "--model", model, "--attention", attention,
                                      "--input", kCat, "--output", folder.path("y.npy")});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("taking --engine torch")) << model;
  }
}

TEST(Rivals, OtherFamiliesRunInLibTorchWhereTheEngineLacksAnOperation) {
  struct Case {
    const char* model;
    std::vector<std::string> settings;
    bool native;
  };
  const Case cases[] = {
      {"resnet-18", {"stem=8", "planes=8,16,24,32", "depths=1,2,1,1"}, true},
      {"deit-small", {"image_size=32", "patch=8", "dim=32", "heads=4", "depth=3"}, true},
      {"pvt-tiny", {"image_size=64", "dims=8,16,24,32", "heads=1,2,3,4", "depths=1,2,1,1"}, true},
      {"swin-b", {}, false}};
  const test::TemporaryFolder folder;
  for (const auto& [model, settings, native] : cases) {
    std::vector<std::string> words{"forward",  "--model",           model, "--input", kCat,
                                   "--output", folder.path("y.npy")};
    for (const std::string& setting : settings) words.insert(words.end(), {"--set", setting});
    const Outcome outcome = run_soft(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err.find("taking --engine torch") == std::string::npos, native)
        << model << ": " << outcome.err;
  }
}
#endif

}  // namespace
}  // namespace soft
