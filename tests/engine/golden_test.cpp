// The engine against numbers of an independent reference.
#include "engine/mini.h"
#include "engine/plain_model.h"

namespace soft {
namespace {

using namespace test;

constexpr float kTolerance = 2e-6f;  // of the largest logit: what README promises

TEST(EngineGolden, LogitsAgreeWithTheReferenceAt224) {
  Workspace workspace;
  const auto logits = logits_of(mini(), workspace, golden_tensor("x224"), 2, {224, 224});
  EXPECT_LT(relative_error(logits, golden_tensor("y224")), kTolerance);
  EXPECT_EQ(workspace.inverse_fallbacks(), 0);
}

TEST(EngineGolden, PositionsAreResizedAsTheReferenceDoes) {
  Workspace workspace;
  const auto logits = logits_of(mini(), workspace, golden_tensor("x160x192"), 1, {160, 192});
  EXPECT_LT(relative_error(logits, golden_tensor("y160x192")), kTolerance);
}

TEST(EngineGolden, TheNormalisedFormAgreesWithTheReference) {
  ModelSpec spec = mini_spec();
  apply_setting(spec, "norm=on");
  Workspace workspace;
  const auto logits = logits_of(mini(spec), workspace, golden_tensor("x224"), 2, {224, 224});
  EXPECT_LT(relative_error(logits, golden_tensor("y224_norm")), kTolerance);
}

TEST(EngineGolden, BothFormsOfLinearLayersAgree) {
  for (LinearForm form : {LinearForm::kConvolution, LinearForm::kMatmul}) {
    Workspace workspace;
    const Packed model = mini(mini_spec(), form);
    const auto logits = logits_of(model, workspace, golden_tensor("x224"), 2, {224, 224});
    EXPECT_LT(relative_error(logits, golden_tensor("y224")), kTolerance);
  }
}

// Beside the same network in double, so that neither is taken for the truth.
TEST(EngineGolden, TheEngineAndTheReferenceAreBothWithinRoundingOfTheExactLogits) {
  const Weights weights = read_weights(golden("mini.safetensors"));
  const std::vector<float> pixels = golden_tensor("x160x192"),
                           reference = golden_tensor("y160x192");
  const Doubles plain = PlainModel(weights, mini_spec()).logits(pixels.data(), {160, 192});
  const std::vector<float> exact(plain.begin(), plain.end());
  Workspace workspace;
  const auto logits = logits_of(mini(), workspace, pixels, 1, {160, 192});
  EXPECT_LT(relative_error(logits, exact), 2e-6f);
  EXPECT_LT(relative_error(reference, exact), 2e-6f);
}

}  // namespace
}  // namespace soft
