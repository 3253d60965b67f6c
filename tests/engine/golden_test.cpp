// The engine against numbers of an independent reference.
#include "engine/mini.h"

namespace soft {
namespace {

using namespace test;

constexpr float kTolerance = 1e-4f;  // of the largest logit

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

}  // namespace
}  // namespace soft
