#include "model/recompute.h"

#include <algorithm>
#include <map>
#include <optional>

#include "model/classifier.h"
#include "model/drop.h"
#include "support/tensors.h"

namespace soft {
namespace {

using torch::Tensor;

ModelSpec small(const std::string& name) {
  ModelSpec spec = find_model(name);
  if (name == "soft-nano" || name == "soft-nano-rows") set_field(spec, "depths", "1,2,1,2");
  if (name == "swin-b") {
    for (const auto& [key, value] : std::map<std::string, std::string>{{"image_size", "32"},
                                                                       {"patch", "1"},
                                                                       {"dim", "16"},
                                                                       {"heads", "1,2,4,8"},
                                                                       {"depths", "2,2,2,1"},
                                                                       {"window", "4"},
                                                                       {"trained", "32,32"}}) {
      set_field(spec, key, value);
    }
  }
  return spec;
}

// Logits and all gradients of one step, with a quarter of the last layer dropped.
std::map<std::string, Tensor> step_of(const ModelSpec& spec, bool recompute, bool keyed) {
  torch::manual_seed(5);
  Classifier model(spec);
  model.train();
  model.set_drop_path(0.25, true);
  model.set_recompute(recompute);
  const Tensor pixels = torch::randn({3, 3, spec.image_size, spec.image_size});
  std::optional<SampleScope> scope;
  if (keyed) scope.emplace(SampleKeys{7, 2, {4, 9, 1}});
  const Tensor logits = model.forward(pixels);
  (logits * torch::randn_like(logits)).sum().backward();
  std::map<std::string, Tensor> values{{"logits", logits.detach()}};
  for (const ModelTensor& own : model.tensors()) {
    if (own.tensor.grad().defined()) values[own.name] = own.tensor.grad();
  }
  values["what is drawn next"] = torch::rand({4});
  return values;
}

class RecomputeTest : public testing::TestWithParam<std::string> {};

TEST_P(RecomputeTest, GivesTheSameBits) {
  const ModelSpec spec = small(GetParam());
  for (const bool keyed : {false, true}) {
    const auto kept = step_of(spec, false, keyed), twice = step_of(spec, true, keyed);
    ASSERT_EQ(kept.size(), twice.size());
    EXPECT_GT(kept.size(), 20u);
    for (const auto& [name, value] : kept) {
      EXPECT_TRUE(torch::equal(value, twice.at(name))) << name << (keyed ? ", keyed" : "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, RecomputeTest,
                         testing::Values("soft-nano", "soft-nano-rows", "swin-b"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Recompute, CoversEveryLayerOfSoftAndNothingElse) {
  const Description model = describe(small("soft-nano"), {32, 32});
  const std::vector<Stretch> layers = layers_to_recompute(model);
  ASSERT_EQ(layers.size(), 6u);
  for (const Stretch& layer : layers) {
    EXPECT_EQ(layer.inputs.size(), 1u);
    EXPECT_EQ(layer.outputs.size(), 1u);
    for (int i = layer.begin; i < layer.end; ++i) EXPECT_GE(model.parts[i].place.layer, 0);
  }
}

TEST(Recompute, CallsTheBodyAgainOnTheWayBack) {
  int calls = 0;
  const Tensor weight = torch::full({1}, 3.0).set_requires_grad(true);
  const Tensor x = torch::full({2}, 2.0).set_requires_grad(true);
  const Body body = [&](const std::vector<Tensor>& inputs) {
    ++calls;
    return std::vector<Tensor>{inputs[0] * inputs[0] * weight, inputs[0] + 1};
  };
  const auto outputs = recomputed(body, {x}, {weight});
  EXPECT_EQ(calls, 1);
  (outputs[0].sum() + 10 * outputs[1].sum()).backward();
  EXPECT_EQ(calls, 2);
  EXPECT_FLOAT_EQ(x.grad()[0].item<float>(), 22);      // 2·x·w + 10
  EXPECT_FLOAT_EQ(weight.grad()[0].item<float>(), 8);  // Σ x²
}

TEST(Recompute, IsRefusedWhereEveryLayerHoldsABatchNorm) {
  ModelSpec spec = find_model("resnet-18");
  Classifier model(spec);
  EXPECT_THAT(test::error_of([&] { model.set_recompute(true); }), testing::HasSubstr("batch norm"));
  model.set_recompute(false);
}

}  // namespace
}  // namespace soft
