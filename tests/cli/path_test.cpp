// Paths that no file can have, in every place that takes one: the world is wrong, and it is said.
#include <filesystem>

#include "cli/photo.h"
#include "support/support.h"

namespace soft {
namespace {

using test::Outcome;
using test::run_soft;

TEST(Paths, ANameOf300CharactersIsRefusedByEveryCommand) {
  const test::TemporaryFolder folder;
  const std::string name(300, 'x'), path = folder.path(name);
  const std::vector<std::vector<std::string>> requests{
      {"attend", "--query", "10,10", "--out", path + ".png", kCat},
      {"embed", "--out", path, kCat},
      {"forward", "--input", test::golden("mini.safetensors"), "--output", path, "--weights",
       test::golden("mini.safetensors")},
      {"convert", test::golden("mini.safetensors"), path},
      {"eval", "--data", "shapes", "--limit-val", "2", "--predictions", path},
      {"bench", "roofline", "--csv", path},
      {"data", "export", "shapes", "--limit", "2", "--out", path},
      {"data", "get", "mnist", "--out", path},
      {"eval", "--data", "idx:" + path},
      {"eval", "--data", "folder:" + path},
      {"eval", "--data", "cifar10:" + path},
      {"classify", path},
      {"classify", "--weights", path, kCat},
      {"info", path},
  };
  for (const auto& request : requests) {
    const Outcome outcome = run_soft(request);
    const std::string line = testing::PrintToString(request).substr(0, 60) + "\n" + outcome.err;
    EXPECT_THAT(outcome.exit_code, testing::AnyOf(1, 2)) << line;
    EXPECT_THAT(outcome.err, testing::HasSubstr(name)) << line;
    EXPECT_THAT(outcome.err, testing::Not(testing::HasSubstr("unexpected"))) << line;
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace soft
