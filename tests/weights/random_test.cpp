// Weights that nobody trained.
#include "base/parallel.h"
#include "support/support.h"
#include "weights/weights.h"

namespace soft {
namespace {

std::vector<float> values(const Weights& weights, const std::string& name) {
  return to_floats(weights.tensors.at(name));
}

TEST(RandomWeights, FitEveryModel) {
  for (const char* model : {"soft-nano", "soft-tiny-norm", "vit-small-pre"}) {
    const ModelSpec spec = find_model(model);
    EXPECT_NO_THROW(check_fit(random_weights(spec, 0), spec)) << model;
  }
}

TEST(RandomWeights, FollowTheSeedAndNotTheThreads) {
  const ModelSpec spec = find_model("soft-nano");
  const auto head = [&](uint64_t seed) {
    return values(random_weights(spec, seed), "head.weight");
  };
  const auto expected = head(3);
  set_threads(3);
  EXPECT_EQ(head(3), expected);
  set_threads(0);
  EXPECT_NE(head(4), expected);
}

TEST(RandomWeights, StartNormsAtOneAndBiasesAtZero) {
  const Weights weights = random_weights(find_model("soft-nano"), 0);
  for (const char* name : {"norm.weight", "patch_embed1.proj.1.running_var"}) {
    EXPECT_THAT(values(weights, name), testing::Each(1.0f)) << name;
  }
  for (const char* name : {"norm.bias", "head.bias", "patch_embed1.proj.1.running_mean"}) {
    EXPECT_THAT(values(weights, name), testing::Each(0.0f)) << name;
  }
}

TEST(RandomWeights, AreOfTheSizeThatTrainingStartsWith) {
  const Weights weights = random_weights(find_model("soft-nano"), 0);
  double squares = 0;
  const auto linear = values(weights, "block3.0.att.ff1.weight");
  for (float value : linear) squares += double{value} * value;
  EXPECT_NEAR(squares / static_cast<double>(linear.size()), 0.02 * 0.02, 2e-5);
  for (float value : values(weights, "patch_embed2.proj.0.weight")) {
    EXPECT_LE(std::abs(value), 1 / std::sqrt(32.0f * 9));
  }
}

TEST(RandomWeights, OutliveTheCopyTheyCameFrom) {
  Weights copy;
  {
    const Weights first = random_weights(find_model("soft-nano"), 0);
    copy = first;
  }
  EXPECT_EQ(values(copy, "norm.weight").front(), 1.0f);
}

}  // namespace
}  // namespace soft
