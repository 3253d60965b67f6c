#include "train/optimizer.h"

#include <torch/optim/adamw.h>

#include <cmath>

#include "attention/fast_path.h"
#include "model/classifier.h"
#include "support/tensors.h"
#include "train/loss.h"

namespace soft {
namespace {

using torch::Tensor;

std::vector<ModelTensor> tensors_of_layer(torch::nn::Linear& layer) {
  return {{"weight", layer->weight}, {"bias", layer->bias, TensorKind::kTrained, false}};
}

TEST(AdamW, TakesTheSameStepsAsLibTorch) {
  torch::manual_seed(1);
  torch::nn::Linear ours(5, 3), theirs(5, 3);
  const Recipe recipe;
  {
    const torch::NoGradGuard no_grad;
    theirs->weight.copy_(ours->weight);
    theirs->bias.copy_(ours->bias);
  }
  AdamW optimizer(tensors_of_layer(ours), recipe);
  std::vector<torch::optim::OptimizerParamGroup> groups;
  auto decayed = torch::optim::AdamWOptions(1e-2).weight_decay(0.05);
  auto free = torch::optim::AdamWOptions(1e-2).weight_decay(0);
  groups.emplace_back(std::vector<Tensor>{theirs->weight},
                      std::make_unique<torch::optim::AdamWOptions>(decayed));
  groups.emplace_back(std::vector<Tensor>{theirs->bias},
                      std::make_unique<torch::optim::AdamWOptions>(free));
  torch::optim::AdamW reference(groups, decayed);
  for (int step = 0; step < 5; ++step) {
    const Tensor x = torch::randn({4, 5});
    optimizer.zero_grad();
    reference.zero_grad();
    ours(x).square().sum().backward();
    theirs(x).square().sum().backward();
    optimizer.step(1e-2);
    reference.step();
  }
  EXPECT_LT(test::relative_error(ours->weight, theirs->weight), 1e-6);
  EXPECT_LT(test::relative_error(ours->bias, theirs->bias), 1e-6);
}

TEST(AdamW, LayersLearnTheSlowerTheNearerTheyAreToThePixels) {
  ModelSpec spec = find_model("soft-nano");
  set_field(spec, "depths", "1,2,1,2");
  Classifier model(spec);
  std::map<std::string, int64_t> layers;
  for (const ModelTensor& own : model.tensors()) layers[own.name] = own.layers_behind;
  EXPECT_EQ(layers.at("head.weight"), 0);
  EXPECT_EQ(layers.at("norm.weight"), 0);
  EXPECT_EQ(layers.at("block4.1.norm1.weight"), 1);
  EXPECT_EQ(layers.at("block4.0.norm1.weight"), 2);
  EXPECT_EQ(layers.at("cls_token"), 2);
  EXPECT_EQ(layers.at("pos_embed4"), 2);
  EXPECT_EQ(layers.at("block2.1.att.ff1.weight"), 4);
  EXPECT_EQ(layers.at("patch_embed2.proj.0.weight"), 5);
  EXPECT_EQ(layers.at("block1.0.att.ff1.weight"), 6);
  EXPECT_EQ(layers.at("patch_embed1.proj.0.weight"), 7);
  Recipe recipe;
  recipe.layer_decay = 0.5;
  AdamW optimizer(model.tensors(), recipe);
  for (const Slot& slot : optimizer.slots()) {
    EXPECT_EQ(slot.rate, std::pow(0.5, static_cast<double>(layers.at(slot.name)))) << slot.name;
  }
}

// Adam's first step has the size of the rate, whatever the gradient.
TEST(AdamW, MovesEachParameterByItsOwnRate) {
  Classifier model(find_model("soft-nano"));
  Recipe recipe;
  recipe.layer_decay = 0.5;
  recipe.weight_decay = 0;
  AdamW optimizer(model.tensors(), recipe);
  const Slot& slot = optimizer.slots().front();
  ASSERT_LT(slot.rate, 1);
  const Tensor before = slot.parameter.detach().clone();
  slot.parameter.mutable_grad() = torch::ones_like(slot.parameter);
  optimizer.step(1e-2);
  EXPECT_NEAR((before - slot.parameter).abs().max().item<double>(), 1e-2 * slot.rate, 1e-7);
}

TEST(AdamW, DecaysMatricesAndPositionsButNotNormsBiasesAndTheClassToken) {
  Classifier model(find_model("soft-nano"));
  std::map<std::string, bool> decays;
  AdamW optimizer(model.tensors(), Recipe());
  for (const Slot& slot : optimizer.slots()) decays[slot.name] = slot.decays;
  EXPECT_TRUE(decays.at("block1.0.att.ff1.weight"));
  EXPECT_TRUE(decays.at("pos_embed1"));
  EXPECT_FALSE(decays.at("block1.0.att.ff1.bias"));
  EXPECT_FALSE(decays.at("block1.0.att.norm1.weight"));
  EXPECT_FALSE(decays.at("cls_token"));
  EXPECT_EQ(decays.count("patch_embed1.proj.1.running_var"), 0u);
}

// Odd sizes, a gradient in another order of memory, and one that is missing.
TEST(AdamW, TheKernelTakesTheStepsOfItsPlainForm) {
  torch::manual_seed(2);
  const std::vector<std::vector<int64_t>> shapes{{1}, {17}, {5, 3}, {40000}, {4, 3, 5, 5}, {7}};
  std::vector<ModelTensor> fused, plain;
  for (const auto& shape : shapes) {
    const Tensor start = torch::randn(shape);
    const std::string name = std::to_string(fused.size());
    fused.push_back({name, start.clone().set_requires_grad(true)});
    plain.push_back({name, start.clone().set_requires_grad(true)});
    fused.back().decays = plain.back().decays = fused.size() % 2 == 0;
  }
  AdamW kernel(fused, Recipe()), expression(plain, Recipe());
  for (int step = 0; step < 5; ++step) {
    for (size_t i = 0; i + 1 < fused.size(); ++i) {
      Tensor gradient = torch::randn(shapes[i]);
      if (gradient.dim() == 4) gradient = gradient.contiguous(torch::MemoryFormat::ChannelsLast);
      fused[i].tensor.mutable_grad() = gradient;
      plain[i].tensor.mutable_grad() = gradient;
    }
    kernel.step(1e-2, 0.7);
    const FastPathScope off(false);
    expression.step(1e-2, 0.7);
  }
  for (size_t i = 0; i < fused.size(); ++i) {
    EXPECT_LT(test::relative_error(fused[i].tensor, plain[i].tensor), 1e-6) << shapes[i];
    EXPECT_LT(test::relative_error(kernel.slots()[i].square, expression.slots()[i].square), 1e-6);
  }
}

TEST(Clipping, MeasuresTheNormAndBringsItToTheLimit) {
  const Tensor a = torch::full({2}, 3.0), b = torch::full({2}, 4.0);  // norm sqrt(50)
  const double norm = global_norm({a, b});
  EXPECT_NEAR(norm, std::sqrt(50.0), 1e-6);
  EXPECT_NEAR(norm * clip_factor(norm, 1.0), 1.0, 1e-6);
  EXPECT_EQ(clip_factor(norm, 8.0), 1.0);
  EXPECT_EQ(clip_factor(norm, 0), 1.0);  // 0: measured, not clipped
}

TEST(Clipping, TheNormIsThatOfTheTensorExpression) {
  torch::manual_seed(3);
  const Tensor a = torch::randn({1001, 37}), b = torch::randn({4, 3, 5, 5}).permute({0, 2, 3, 1});
  const Tensor c = torch::randn({9, 9}).narrow(1, 2, 4);
  const double norm = global_norm({a, b, c});
  const FastPathScope off(false);
  EXPECT_NEAR(norm / global_norm({a, b, c}), 1, 1e-7);
}

TEST(Ema, FollowsItsDecayAndWarmsUp) {
  torch::nn::Linear source(1, 1), average(1, 1);
  Recipe recipe;
  recipe.ema_decay = 0.9;
  Ema ema(tensors_of_layer(average), tensors_of_layer(source), recipe);
  const torch::NoGradGuard no_grad;
  const float start = source->weight.item<float>();
  source->weight.fill_(start + 1);
  ema.update(1);
  EXPECT_NEAR(average->weight.item<float>(), start + 0.1f, 1e-6);
  recipe.ema_warmup = true;
  const Ema warm(tensors_of_layer(average), tensors_of_layer(source), recipe);
  EXPECT_NEAR(warm.decay_at(1), 1 - std::pow(2.0, -2.0 / 3), 1e-12);
  EXPECT_DOUBLE_EQ(warm.decay_at(1000000), 0.9);
}

TEST(SoftCrossEntropy, EqualsTheHandComputedValue) {
  const Tensor logits = torch::tensor({{1.0f, 2.0f, 3.0f}});
  const Tensor targets = torch::tensor({{0.2f, 0.3f, 0.5f}});
  const double log_sum = std::log(std::exp(1.0) + std::exp(2.0) + std::exp(3.0));
  EXPECT_NEAR(soft_cross_entropy(logits, targets).item<double>(), log_sum - (0.2 + 0.6 + 1.5),
              1e-6);
}

}  // namespace
}  // namespace soft
