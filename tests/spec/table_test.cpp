#include <gtest/gtest.h>

#include "describe/cost.h"
#include "support/support.h"

namespace soft {
namespace {

struct Published {
  const char* name;
  int64_t params;
  double gmacs;
  double gmacs_with_inverse;
};

class PublishedModel : public testing::TestWithParam<Published> {};

TEST_P(PublishedModel, HasExactlyTheParametersAndMacsOfTheReleasedWeights) {
  const ModelSpec spec = find_model(GetParam().name);
  const ModelCost cost = cost_of(spec, {224, 224});
  EXPECT_EQ(cost.params, GetParam().params);
  EXPECT_NEAR(static_cast<double>(cost.macs) / 1e9, GetParam().gmacs, 0.0006);
  EXPECT_NEAR(static_cast<double>(cost.macs_with_inverse) / 1e9, GetParam().gmacs_with_inverse,
              0.0006);
}

INSTANTIATE_TEST_SUITE_P(Table, PublishedModel,
                         testing::Values(Published{"soft-tiny", 13'069'056, 1.928, 2.116},
                                         Published{"soft-small", 24'110'092, 3.346, 3.741},
                                         Published{"soft-medium", 45'812'707, 7.387, 8.681},
                                         Published{"soft-large", 64'700'646, 11.231, 13.180},
                                         Published{"soft-huge", 87'108'273, 16.015, 18.655}),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
                           return name;
                         });

TEST(Table, SmallModelsHaveTheirPublishedSize) {
  EXPECT_EQ(cost_of(find_model("soft-nano"), {32, 32}).params, 1'290'759);
  EXPECT_EQ(cost_of(find_model("vit-small-pre"), {224, 224}).params, 22'050'664);
}

TEST(Table, SamplersWithoutWeightsDropTheLandmarkConvolution) {
  for (const char* sampler : {"avg", "random", "biased"}) {
    ModelSpec spec = find_model("soft-tiny");
    set_field(spec, "sampler", sampler);
    EXPECT_EQ(cost_of(spec, {224, 224}).params, 12'958'080) << sampler;
  }
}

TEST(Table, TheRowsFamilyDiffersFromItsTwinsInTwoSettings) {
  for (const char* size : {"pico", "nano", "mini", "tiny", "small", "medium", "large", "huge"}) {
    const std::string twin = std::string("soft-") + size;
    const ModelSpec rows = find_model(twin + "-rows");
    ModelSpec made = find_model(twin);
    set_field(made, "kernel_scale", "paper");
    set_field(made, "normalise", "rows");
    EXPECT_EQ(settings_of(rows), settings_of(made)) << size;
    EXPECT_EQ(rows.family, "soft-rows");
  }
}

TEST(Table, EveryRowIsValidAndSurvivesJson) {
  for (std::string_view name : model_names()) {
    const ModelSpec spec = find_model(name);
    EXPECT_NO_THROW(validate(spec)) << name;
    EXPECT_EQ(to_json(spec_from_json(to_json(spec), "test")), to_json(spec)) << name;
  }
}

TEST(Table, AMistypedModelIsAnsweredWithTheNearestName) {
  const std::string message = test::error_of([] { find_model("soft-tinny"); });
  EXPECT_THAT(message, testing::HasSubstr("did you mean 'soft-tiny'"));
}

}  // namespace
}  // namespace soft
