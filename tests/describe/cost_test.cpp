#include "describe/cost.h"

#include <cmath>
#include <numeric>

#include "spec/landmark_count.h"
#include "support/support.h"

namespace soft {
namespace {

ModelSpec changed(const char* model, std::initializer_list<const char*> settings) {
  ModelSpec spec = find_model(model);
  for (const char* setting : settings) apply_setting(spec, setting);
  validate(spec);
  return spec;
}

ModelCost cost(const ModelSpec& spec) { return cost_of(spec, {spec.image_size, spec.image_size}); }

struct Rival {
  const char* attention;
  double gmacs;
  double gmacs_with_inverse;
};

// In soft-tiny's frame at 224 pixels, as the paper's Table 1 compares them.
TEST(Cost, EveryMechanismOfTable1HasItsKnownMacsAndThirteenMillionParameters) {
  for (const Rival& rival :
       {Rival{"soft", 1.93, 2.12}, Rival{"softmax", 3.56, 3.56}, Rival{"linformer", 2.01, 2.01},
        Rival{"performer", 2.17, 2.17}, Rival{"nystromformer", 2.04, 2.15}}) {
    ModelSpec spec = find_model("soft-tiny");
    set_field(spec, "attention", rival.attention);
    const ModelCost whole = cost(spec);
    const double with_inverse = 1e-9 * static_cast<double>(whole.macs_with_inverse);
    EXPECT_NEAR(whole.gmacs() / rival.gmacs, 1, 0.01) << rival.attention;
    EXPECT_NEAR(with_inverse / rival.gmacs_with_inverse, 1, 0.01) << rival.attention;
    EXPECT_EQ(whole.params / 1'000'000, 13) << rival.attention;
  }
}

TEST(Cost, RivalsWithAFixedNumberOfKeysGrowLinearlyWithTheTokens) {
  for (const char* rival : {"linformer", "performer", "nystromformer", "reformer"}) {
    const ModelSpec spec =
        changed("vit-small-384x12", {fmt::format("attention={}", rival).c_str(), "landmarks=49"});
    const auto macs = [&](int64_t side) {
      return static_cast<double>(cost_of(spec, {side, side}).macs);
    };
    const double exponent = std::log(macs(1792) / macs(896)) / std::log(4.0);
    const bool hashes = std::string_view(rival) == "reformer";  // more tokens, more buckets
    EXPECT_NEAR(exponent, 1, hashes ? 0.1 : 0.01) << rival;
  }
}

TEST(Cost, RandomFeaturesAreStoredButNotTrained) {
  const ModelCost performer = cost(changed("soft-tiny", {"attention=performer", "features=64"}));
  const ModelCost softmax = cost(changed("soft-tiny", {"attention=softmax"}));
  EXPECT_EQ(performer.params, softmax.params);
  EXPECT_EQ(performer.weight_bytes - softmax.weight_bytes, 4 * (1 + 2 + 3) * 64 * 32);
}

TEST(Cost, BucketsAreEvenInNumber) {
  AttentionSpec spec;
  for (const auto& [tokens, buckets] : {std::pair{65, 2}, {128, 2}, {129, 4}, {3136, 50}}) {
    EXPECT_EQ(bucket_count(spec, tokens), buckets) << tokens;
  }
}

TEST(Cost, TheWholeIsTheSumOfItsParts) {
  for (std::string_view name : model_names()) {
    const ModelCost whole = cost(find_model(name));
    int64_t params = whole.head_params;
    int64_t macs = whole.head_macs;
    int64_t inverse = 0;
    for (const StageCost& stage : whole.stages) {
      params += stage.params;
      macs += stage.macs;
      inverse += stage.inverse_macs;
    }
    EXPECT_EQ(whole.params, params) << name;
    EXPECT_EQ(whole.macs, macs) << name;
    EXPECT_EQ(whole.macs_with_inverse, macs + inverse) << name;
  }
}

TEST(Cost, ParametersDoNotDependOnTheImage) {
  for (std::string_view name : model_names()) {
    const ModelSpec spec = find_model(name);
    EXPECT_EQ(cost_of(spec, {64, 96}).params, cost_of(spec, {320, 256}).params) << name;
  }
}

TEST(Cost, WithFixedLandmarksMacsGrowLinearlyWithTheTokens) {
  const ModelSpec spec = changed("vit-small-384x12", {"landmarks=49"});
  const auto macs = [&](int64_t side) {
    return static_cast<double>(cost_of(spec, {side, side}).macs);
  };
  const double exponent = std::log(macs(1792) / macs(896)) / std::log(4.0);
  EXPECT_NEAR(exponent, 1, 0.01);
}

TEST(Cost, WithSoftmaxMacsGrowFasterThanTheTokens) {
  const ModelSpec spec = changed("vit-small-384x12", {"attention=softmax"});
  const auto macs = [&](int64_t side) {
    return static_cast<double>(cost_of(spec, {side, side}).macs);
  };
  EXPECT_GT(std::log(macs(1792) / macs(896)) / std::log(4.0), 1.5);
}

TEST(Cost, TheInverseCosts40TimesTheCubeOfTheLandmarksPerHead) {
  const ModelCost tiny = cost(find_model("soft-tiny"));
  EXPECT_EQ(tiny.stages[0].inverse_macs, 40 * 49 * 49 * 49 * 2);
  EXPECT_EQ(tiny.stages[2].inverse_macs, int64_t{40} * 49 * 49 * 49 * 10 * 3);
  EXPECT_EQ(tiny.stages[3].inverse_macs, 0);
  EXPECT_EQ(cost(changed("soft-tiny", {"inverse=exact"})).macs_with_inverse, tiny.macs);
}

TEST(Cost, TheValuePathIsOneKernelPerHead) {
  const int64_t with = cost(find_model("soft-tiny")).params;
  const int64_t without = cost(changed("soft-tiny", {"value_path=off"})).params;
  EXPECT_EQ(with - without, 1 * 2 * 81 + 2 * 4 * 25 + 3 * 10 * 9);
}

TEST(Cost, SoftmaxNeedsAKeyProjectionThatSoftSaves) {
  const int64_t soft = cost(changed("vit-small-384x12", {"sampler=avg", "value_path=off"})).params;
  const int64_t softmax =
      cost(changed("vit-small-384x12", {"attention=softmax", "value_path=off"})).params;
  EXPECT_EQ(softmax - soft, 12 * (384 * 384 + 384));
}

TEST(Cost, NormalisationAddsNothing) {
  EXPECT_EQ(cost(find_model("soft-tiny-norm")).params, cost(find_model("soft-tiny")).params);
  EXPECT_EQ(cost(find_model("soft-tiny-norm")).macs, cost(find_model("soft-tiny")).macs);
}

TEST(Cost, WeightsTakeFourBytesAParameterAndAFewForRunningStatistics) {
  const ModelCost tiny = cost(find_model("soft-tiny"));
  const int64_t batch_norm_channels = 32 + 32 + 64 + 128 + 320 + 512;
  EXPECT_EQ(tiny.weight_bytes, 4 * (tiny.params + 2 * batch_norm_channels));
}

TEST(Cost, CountsBeyondSixtyFourBitsAreRefused) {
  ModelSpec spec = changed("vit-small-384x12", {"attention=softmax", "dims=16384", "heads=1"});
  EXPECT_GT(cost_of(spec, {2048, 2048}).macs, int64_t{1} << 40);
  apply_setting(spec, "depths=1000");
  EXPECT_THAT(test::error_of([&] {
                cost_of(spec, {16'384, 16'384});
              }),
              testing::HasSubstr("more than can be counted"));
  apply_setting(spec, "patch=1");  // 2^28 tokens
  EXPECT_THAT(test::error_of([&] {
                cost_of(spec, {16'384, 16'384});
              }),
              testing::HasSubstr("more than can be counted"));
}

TEST(Cost, ActivationsGrowWithTheImageButNotWithTheDepth) {
  const ModelSpec tiny = find_model("soft-tiny");
  EXPECT_GT(cost_of(tiny, {448, 448}).activation_bytes, cost_of(tiny, {224, 224}).activation_bytes);
  EXPECT_EQ(cost(changed("soft-tiny", {"depths=4,4,4,4"})).activation_bytes,
            cost(tiny).activation_bytes);
}

}  // namespace
}  // namespace soft
