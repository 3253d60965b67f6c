// What cannot run is refused before memory is taken, and the message says what to do.
#include "engine/mini.h"
#include "spec/all_models.h"

namespace soft {
namespace {

using namespace test;
using testing::HasSubstr;

std::string refusal(int64_t count, Grid size, const WorkspaceOptions& options = {}) {
  const Packed model = mini();
  Workspace workspace(options);
  std::vector<float> logits(16);
  const std::string message = error_of([&] {
    forward(model, workspace, {nullptr, count, size}, logits.data());
  });
  EXPECT_EQ(workspace.bytes(), 0u);
  return message;
}

TEST(EngineRefusal, OfAnEmptyBatch) {
  EXPECT_THAT(refusal(0, {64, 64}), HasSubstr("a batch of 0 images"));
  EXPECT_THAT(refusal(-3, {64, 64}), HasSubstr("a batch of -3 images"));
}

TEST(EngineRefusal, OfASmallImage) {
  EXPECT_THAT(refusal(1, {31, 64}), HasSubstr("too small"));
  EXPECT_THAT(refusal(1, {64, 0}), HasSubstr("too small"));
}

TEST(EngineRefusal, OfAHundredMegapixels) {
  const std::string message = refusal(1, {10'000, 10'000});
  EXPECT_THAT(message, HasSubstr("working memory"));
  EXPECT_THAT(message, HasSubstr("landmarks=49"));
  EXPECT_THAT(refusal(1, {1 << 20, 1 << 20}), HasSubstr("too large"));
}

TEST(EngineRefusal, FollowsTheWorkspacesOwnLimit) {
  EXPECT_THAT(refusal(1, {224, 224}, {4, 1 << 20}), HasSubstr("more than the 1 MB allowed"));
}

TEST(EngineRefusal, OfFeaturesAndRowsComesBeforeTheirMemory) {
  const Packed model = mini();
  Workspace workspace;
  const ImageBatch absurd{nullptr, 1'000'000, {10'000, 10'000}};
  EXPECT_THAT(error_of([&] { features(model, workspace, absurd); }), HasSubstr("working memory"));
  EXPECT_THAT(error_of([&] { attention_row(model, workspace, absurd, {}); }),
              HasSubstr("working memory"));
}

TEST(EngineRefusal, OfOtherMechanismsNamesTheTorchEngine) {
  for (const char* setting :
       {"attention=softmax", "attention=gaussian", "attention=gaussian-softmax",
        "attention=linformer", "attention=performer", "attention=nystromformer",
        "attention=reformer", "sampler=random"}) {
    ModelSpec spec = find_model("soft-nano");
    apply_setting(spec, setting);
    EXPECT_THAT(native_obstacle(spec), HasSubstr("native engine")) << setting;
    const RandomWeights weights(spec);
    EXPECT_THAT(error_of([&] { Packed(weights.get(), spec); }), HasSubstr("--engine torch"));
  }
  EXPECT_THAT(native_obstacle(find_model("vit-small-pre")), HasSubstr("softmax"));
  EXPECT_EQ(native_obstacle(find_model("soft-tiny-norm")), "");
  EXPECT_EQ(native_obstacle(find_model("vit-small-384x12")), "");
}

TEST(EngineRefusal, OfOtherFamiliesNamesTheOperationThatIsMissing) {
  for (const std::string_view name : all_model_names()) {
    const ModelSpec spec = find_model(std::string(name));
    if (!spec.in_zoo()) continue;
    const bool has_all = spec.family == "resnet" || spec.family == "deit" || spec.family == "pvt";
    const std::string obstacle = native_obstacle(spec);
    EXPECT_EQ(obstacle.empty(), has_all) << name;
    if (has_all) continue;
    EXPECT_THAT(obstacle, HasSubstr("(family " + spec.family + ")")) << name;
  }
  EXPECT_THAT(native_obstacle(find_model("cpvt-small")),
              HasSubstr("convolution: pos_block.0.proj.0"));
}

TEST(EngineRefusal, OfWeightsThatDoNotFit) {
  const ModelSpec spec = find_model("soft-nano");
  const RandomWeights random(spec);
  Weights weights = random.get();
  weights.tensors.erase("norm.bias");
  EXPECT_THAT(error_of([&] { Packed(weights, spec); }), HasSubstr("missing norm.bias"));
  weights = random.get();
  weights.tensors["head.weight"].shape = {192, 10};
  EXPECT_THAT(error_of([&] { Packed(weights, spec); }), HasSubstr("head.weight is 192x10"));
  EXPECT_THAT(error_of([&] { Packed(random.get(), find_model("soft-tiny")); }),
              HasSubstr("not those of soft-tiny"));
}

TEST(EngineRefusal, OfWeightsThatAreNotNumbers) {
  const ModelSpec spec = find_model("soft-nano");
  const RandomWeights random(spec);
  const auto refusal_with = [&](const std::string& name, float value) {
    Weights weights = random.get();
    TensorView& view = weights.tensors.at(name);
    std::vector<float> damaged = to_floats(view);
    damaged.back() = value;
    view.data = reinterpret_cast<const uint8_t*>(damaged.data());
    return error_of([&] { Packed(weights, spec); });
  };
  for (const char* name : {"head.weight", "norm.bias", "patch_embed2.proj.0.weight"}) {
    EXPECT_THAT(refusal_with(name, NAN), HasSubstr(std::string(name) + " in 'random' holds"));
    EXPECT_THAT(refusal_with(name, -INFINITY), HasSubstr("not finite")) << name;
  }
  EXPECT_THAT(refusal_with("patch_embed1.proj.1.running_var", -1),
              HasSubstr("running_var holds -1"));
}

}  // namespace
}  // namespace soft
