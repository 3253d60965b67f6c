// Checkpoints in which several names stand for one dictionary.
#include <gtest/gtest.h>

#include "support/support.h"
#include "weights/forge.h"
#include "weights/weights.h"

namespace soft {
namespace {

using test::checkpoint;
using test::dict;
using test::pickled;

// One dictionary without a tensor under very many names: walked for each of them, it would take
// longer than ctest waits.
TEST(Checkpoint, ADictionaryUnderManyNamesIsWalkedOnce) {
  const test::TemporaryFolder folder;
  std::string large = "}(";
  for (int i = 0; i < 200'000; ++i) large += std::string("K\0K\0", 4);
  std::string root = "}(" + test::text("other") + large + "uq" + std::string(1, '\0');
  for (int i = 0; i < 200'000; ++i) {
    root += test::text(std::to_string(i)) + "h" + std::string(1, '\0');
  }
  root += test::text("model") + dict({{"a", pickled({})}}) + "u";
  test::write_file(folder.path("x.pth"), checkpoint(root));
  EXPECT_EQ(read_weights(folder.path("x.pth")).source_key, "model");
}

TEST(Checkpoint, ADictionaryUnderTwoNamesIsFoundUnderBoth) {
  const test::TemporaryFolder folder;
  const std::string twice = "}(" + test::text("first") + dict({{"a", pickled({})}}) + "q" +
                            std::string(1, '\0') + test::text("second") + "h" +
                            std::string(1, '\0') + "u";
  test::write_file(folder.path("x.pth"), checkpoint(twice));
  for (const char* key : {"first", "second"}) {
    EXPECT_EQ(read_weights(folder.path("x.pth"), key).tensors.size(), 1u);
  }
}

}  // namespace
}  // namespace soft
