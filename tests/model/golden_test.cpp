// The whole model against the reference: logits at two sizes, as a -norm model, and five training
// steps.
#include <torch/nn/functional/loss.h>
#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/adamw.h>

#include "model/checkpoint.h"
#include "model/classifier.h"
#include "support/tensors.h"

namespace soft {
namespace {

using test::golden_tensors;
using test::relative_error;
using test::Tensors;
using torch::Tensor;

constexpr double kTolerance = 2e-6;  // of the largest logit: what README promises

std::shared_ptr<Classifier> mini(const std::string& file = "mini.safetensors",
                                 const std::string& attention = "soft") {
  const Weights weights = read_weights(test::golden(file));
  ModelSpec spec = card_of(weights).spec;
  set_field(spec, "attention", attention);
  auto model = std::make_shared<Classifier>(spec);
  load_weights(*model, weights);
  model->eval();
  return model;
}

TEST(GoldenModel, LogitsEqualTheReferenceAtTheTrainedSize) {
  const torch::NoGradGuard no_grad;
  const Tensors io = golden_tensors("mini_io.safetensors");
  EXPECT_LT(relative_error(mini()->forward(io.at("x224")), io.at("y224")), kTolerance);
}

TEST(GoldenModel, LogitsEqualTheReferenceAtAnotherSize) {
  const torch::NoGradGuard no_grad;
  const Tensors io = golden_tensors("mini_io.safetensors");
  EXPECT_LT(relative_error(mini()->forward(io.at("x160x192")), io.at("y160x192")), kTolerance);
}

TEST(GoldenModel, LogitsEqualTheReferenceAsANormalisedModel) {
  const torch::NoGradGuard no_grad;
  const Tensors io = golden_tensors("mini_io.safetensors");
  const auto model = mini("mini.safetensors", "soft-norm");
  EXPECT_LT(relative_error(model->forward(io.at("x224")), io.at("y224_norm")), kTolerance);
}

Tensor smoothed_cross_entropy(const Tensor& logits, const Tensor& target) {
  const auto options = torch::nn::functional::CrossEntropyFuncOptions().label_smoothing(0.1);
  return torch::nn::functional::cross_entropy(logits, target, options);
}

TEST(GoldenModel, GradientsOfTheFirstStepEqualTheReference) {
  const Tensors golden = golden_tensors("mini_train.safetensors");
  const auto model = mini();
  model->train();
  smoothed_cross_entropy(model->forward(golden.at("x")), golden.at("target")).backward();
  double largest = 0;
  for (const auto& [name, tensor] : golden) {
    if (name.rfind("grad.", 0) == 0) largest = std::max(largest, tensor.abs().max().item<double>());
  }
  int compared = 0;
  for (const auto& item : model->named_parameters()) {
    const auto found = golden.find("grad." + item.key());
    if (found == golden.end()) continue;
    const double floor = 1e-5 * largest;  // biases before a BN have no true gradient
    const double allowed = std::max(1e-3 * found->second.abs().max().item<double>(), floor);
    EXPECT_LT(test::absolute_error(item.value().grad(), found->second), allowed) << item.key();
    ++compared;
  }
  EXPECT_EQ(compared, 112);
}

TEST(GoldenModel, LossesOfFiveStepsEqualTheReference) {
  const Tensors golden = golden_tensors("mini_train.safetensors");
  const auto model = mini();
  model->train();
  torch::optim::AdamW optimizer(model->parameters(),
                                torch::optim::AdamWOptions(1e-4).weight_decay(0.05));
  for (int64_t step = 0; step < 5; ++step) {
    optimizer.zero_grad();
    const Tensor loss = smoothed_cross_entropy(model->forward(golden.at("x")), golden.at("target"));
    EXPECT_NEAR(loss.item<double>(), golden.at("losses")[step].item<double>(), 1e-3) << step;
    loss.backward();
    torch::nn::utils::clip_grad_norm_(model->parameters(), 1.0);
    optimizer.step();
  }
}

}  // namespace
}  // namespace soft
