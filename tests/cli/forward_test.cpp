#include <cmath>
#include <filesystem>

#include "base/npy.h"
#include "base/random.h"
#include "cli/photo.h"
#include "cli/weights_file.h"
#include "support/support.h"

namespace soft {
namespace {

using test::Outcome;
using test::run_soft;
using test::TemporaryFolder;
using testing::HasSubstr;

class Forward : public testing::Test {
 protected:
  Forward() { write_npy(x(), pictures(2, 32, 32)); }

  static Array pictures(int64_t count, int64_t height, int64_t width) {
    Random random(5);
    Array array{{count, 3, height, width}, {}};
    array.data.resize(count * 3 * height * width);
    for (float& value : array.data) value = static_cast<float>(random.normal());
    return array;
  }

  std::string x() const { return folder_.path("x.npy"); }
  std::string y() const { return folder_.path("y.npy"); }

  Outcome forward(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "forward");
    arguments.insert(arguments.end(), {"--output", y()});
    return run_soft(arguments);
  }

  void expect_refusal(const std::vector<std::string>& arguments, int code,
                      const std::string& part) {
    const Outcome outcome = forward(arguments);
    EXPECT_EQ(outcome.exit_code, code) << part;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(part));
    EXPECT_FALSE(std::filesystem::exists(y()));
    EXPECT_FALSE(std::filesystem::exists(folder_.path("y.1.npy")));
  }

  TemporaryFolder folder_;
};

TEST_F(Forward, UnknownNamesAreUsageErrors) {
  expect_refusal({"--model", "soft-nanno", "--input", x()}, 2, "did you mean 'soft-nano'");
  expect_refusal({"--model", "soft-nano", "--input", x(), "--attention", "sofft"}, 2,
                 "did you mean 'soft'");
  expect_refusal({"--model", "soft-nano", "--input", x(), "--set", "samper=avg"}, 2,
                 "did you mean 'sampler'");
  expect_refusal({"--model", "soft-nano", "--input", x(), "--engine", "troch"}, 2,
                 "did you mean 'torch'");
}

TEST_F(Forward, WhatTheNativeEngineCannotRunIsRefusedWhenItWasAskedFor) {
  expect_refusal({"--model", "vit-small-pre", "--input", kCat, "--engine", "native"}, 1,
                 "not softmax; use --engine torch");
  expect_refusal(
      {"--model", "soft-nano", "--set", "sampler=random", "--input", x(), "--engine", "native"}, 1,
      "sampler=random");
}

TEST_F(Forward, AModelOrAWeightsFileIsNeeded) {
  expect_refusal({"--input", x()}, 2, "--weights or --model");
  expect_refusal({"--model", "soft-nano"}, 2, "--input is required");
  expect_refusal({"--weights", x(), "--seed", "1", "--input", x()}, 2, "--weights excludes --seed");
}

TEST_F(Forward, BadWeightsAreFailures) {
  expect_refusal({"--weights", folder_.path("none.pth"), "--input", x()}, 1, "none.pth");
  expect_refusal({"--weights", x(), "--input", x()}, 1, "x.npy");
  test::write_weights(folder_.path("w.safetensors"), find_model("soft-nano"));
  expect_refusal(
      {"--weights", folder_.path("w.safetensors"), "--set", "classes=11", "--input", x()}, 1,
      "head.weight");
}

TEST_F(Forward, BadInputsAreFailures) {
  const std::vector<std::string> nano{"--model", "soft-nano", "--input"};
  const auto refuse = [&](const std::string& input, const std::string& part) {
    auto arguments = nano;
    arguments.push_back(input);
    expect_refusal(arguments, 1, part);
  };
  refuse(folder_.path("none.npy"), "none.npy");
  refuse(SOFT_SOURCE_DIR "/LICENSE", "LICENSE");
  write_npy(folder_.path("flat.npy"), {{3, 32, 32}, std::vector<float>(3 * 32 * 32)});
  refuse(folder_.path("flat.npy"), "3x32x32");
  write_npy(folder_.path("grey.npy"), {{1, 1, 32, 96}, std::vector<float>(32 * 96)});
  refuse(folder_.path("grey.npy"), "1x1x32x96");
  write_npy(folder_.path("empty.npy"), {{0, 3, 32, 32}, {}});
  refuse(folder_.path("empty.npy"), "at least one");
  write_npy(folder_.path("small.npy"), pictures(1, 31, 64));
  refuse(folder_.path("small.npy"), "31x64");
  Array holed = pictures(1, 32, 32);
  holed.data[7] = NAN;
  write_npy(folder_.path("holed.npy"), holed);
  refuse(folder_.path("holed.npy"), "not finite");
}

TEST_F(Forward, AMissingFolderIsNoticedBeforeAnythingRuns) {
  const Outcome outcome = run_soft(
      {"forward", "--model", "soft-nano", "--input", x(), "--output", folder_.path("no/y.npy")});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("there is no folder"));
}

TEST_F(Forward, RandomWeightsFollowTheSeed) {
  const auto logits = [&](const char* seed) {
    const Outcome outcome = forward({"--model", "soft-nano", "--input", x(), "--seed", seed});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    return read_npy(y());
  };
  const Array zero = logits("0");
  EXPECT_EQ(zero.shape, (std::vector<int64_t>{2, 10}));
  EXPECT_EQ(logits("0").data, zero.data);
  EXPECT_NE(logits("1").data, zero.data);
}

TEST_F(Forward, ASeedIsAWholeNumberFromZeroUp) {
  for (const char* seed : {"-3", "1.5", "x", "99999999999999999999"}) {
    expect_refusal({"--model", "soft-nano", "--input", x(), "--seed", seed}, 2, "--seed");
  }
}

TEST_F(Forward, FeaturesOfEveryStageAreWrittenBesideTheLogits) {
  write_npy(x(), pictures(2, 48, 64));
  EXPECT_EQ(forward({"--model", "soft-nano", "--input", x(), "--features"}).exit_code, 0);
  EXPECT_EQ(read_npy(folder_.path("y.1.npy")).shape, (std::vector<int64_t>{2, 32, 24, 32}));
  EXPECT_EQ(read_npy(folder_.path("y.2.npy")).shape, (std::vector<int64_t>{2, 64, 12, 16}));
  EXPECT_EQ(read_npy(folder_.path("y.3.npy")).shape, (std::vector<int64_t>{2, 128, 6, 8}));
  EXPECT_EQ(read_npy(folder_.path("y.4.npy")).shape, (std::vector<int64_t>{2, 192, 3, 4}));
  EXPECT_EQ(read_npy(y()).shape, (std::vector<int64_t>{2, 10}));
}

TEST_F(Forward, APictureGoesThroughTheEvaluationTransform) {
  EXPECT_EQ(forward({"--model", "soft-nano", "--input", kCat}).exit_code, 0);
  EXPECT_EQ(read_npy(y()).shape, (std::vector<int64_t>{1, 10}));
}

TEST_F(Forward, AWeightsFileIsEnoughToRun) {
  test::write_weights(folder_.path("w.safetensors"), find_model("soft-nano"));
  const Outcome outcome = forward({"--weights", folder_.path("w.safetensors"), "--input", x()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(read_npy(y()).shape, (std::vector<int64_t>{2, 10}));
}

TEST_F(Forward, OneFeatureThatCannotBeWrittenLeavesTheOldLogits) {
  test::write_file(y(), "old");
  std::filesystem::create_directory(folder_.path("y.3.npy"));
  EXPECT_EQ(forward({"--model", "soft-nano", "--input", x(), "--features"}).exit_code, 1);
  EXPECT_EQ(test::read_file(y()), "old");
  EXPECT_FALSE(std::filesystem::exists(folder_.path("y.1.npy")));
}

TEST_F(Forward, APictureTooLargeForTheMemoryIsRefused) {
  write_npy(x(), pictures(1, 1600, 1600));
  expect_refusal({"--model", "soft-nano", "--input", x()}, 1, "working memory");
}

#if SOFT_WITH_TORCH

TEST_F(Forward, BothEnginesGiveTheSameAnswer) {
  const auto answers = [&](const char* engine) {
    const Outcome outcome =
        forward({"--model", "soft-nano", "--input", x(), "--features", "--engine", engine});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    std::vector<Array> arrays{read_npy(y())};
    for (const char* map : {"y.1.npy", "y.2.npy", "y.3.npy", "y.4.npy"}) {
      arrays.push_back(read_npy(folder_.path(map)));
    }
    return arrays;
  };
  const auto native = answers("native"), torch = answers("torch"), plain = answers("torch-plain");
  for (size_t i = 0; i < native.size(); ++i) {
    EXPECT_EQ(native[i].shape, torch[i].shape);
    EXPECT_THAT(native[i].data, testing::Pointwise(testing::FloatNear(2e-4f), torch[i].data));
    EXPECT_THAT(plain[i].data, testing::Pointwise(testing::FloatNear(2e-4f), torch[i].data));
  }
}

TEST_F(Forward, WhatOnlyLibTorchRunsGoesThereWithALineThatSaysSo) {
  const Outcome outcome =
      forward({"--model", "soft-nano", "--attention", "softmax", "--input", x()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("not softmax; taking --engine torch\n"));
  EXPECT_EQ(read_npy(y()).shape, (std::vector<int64_t>{2, 10}));
}

#else

TEST_F(Forward, WithoutTheTorchWingTheErrorSaysHowToBuildIt) {
  expect_refusal({"--model", "soft-nano", "--input", kCat, "--engine", "torch"}, 1,
                 "cmake --preset release");
}

#endif

}  // namespace
}  // namespace soft
