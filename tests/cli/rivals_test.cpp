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
#endif

}  // namespace
}  // namespace soft
