#include "train/optimizer.h"

#include <algorithm>
#include <cmath>

#include "attention/torch.h"

namespace soft {

using torch::Tensor;

AdamW::AdamW(const std::vector<ModelTensor>& tensors, const Recipe& recipe)
    : beta1_(recipe.beta1),
      beta2_(recipe.beta2),
      eps_(recipe.eps),
      weight_decay_(recipe.weight_decay) {
  for (const ModelTensor& own : tensors) {
    if (!own.tensor.requires_grad()) continue;
    slots_.push_back({own.name, own.tensor, torch::zeros_like(own.tensor),
                      torch::zeros_like(own.tensor), recipe.decay_all || own.decays,
                      std::pow(recipe.layer_decay, static_cast<double>(own.layers_behind))});
  }
}

void AdamW::step(double lr) {
  const torch::NoGradGuard no_grad;
  ++steps_;
  const double correction1 = 1 - std::pow(beta1_, static_cast<double>(steps_));
  const double correction2 = std::sqrt(1 - std::pow(beta2_, static_cast<double>(steps_)));
  for (Slot& slot : slots_) {
    const Tensor& gradient = slot.parameter.grad();
    if (!gradient.defined()) continue;
    const double rate = lr * slot.rate;
    if (slot.decays) slot.parameter.mul_(1 - rate * weight_decay_);
    slot.mean.mul_(beta1_).add_(gradient, 1 - beta1_);
    slot.square.mul_(beta2_).addcmul_(gradient, gradient, 1 - beta2_);
    const Tensor denominator = (slot.square.sqrt() / correction2).add_(eps_);
    slot.parameter.addcdiv_(slot.mean, denominator, -rate / correction1);
  }
}

void AdamW::zero_grad() {
  for (Slot& slot : slots_) slot.parameter.mutable_grad() = Tensor();
}

std::vector<Tensor> AdamW::gradients() const {
  std::vector<Tensor> gradients;
  for (const Slot& slot : slots_) {
    if (slot.parameter.grad().defined()) gradients.push_back(slot.parameter.grad());
  }
  return gradients;
}

double clip_gradients(const std::vector<Tensor>& gradients, double limit) {
  double squares = 0;
  for (const Tensor& gradient : gradients) {
    squares += gradient.square().sum(torch::kFloat64).item<double>();
  }
  const double norm = std::sqrt(squares);
  const torch::NoGradGuard no_grad;
  if (limit > 0 && norm > limit) {
    for (Tensor gradient : gradients) gradient.mul_(limit / (norm + 1e-6));
  }
  return norm;
}

Ema::Ema(const std::vector<ModelTensor>& average, const std::vector<ModelTensor>& source,
         const Recipe& recipe)
    : decay_(recipe.ema_decay), warmup_(recipe.ema_warmup) {
  const torch::NoGradGuard no_grad;
  for (size_t i = 0; i < average.size(); ++i) {
    Tensor tensor = average[i].tensor;
    tensor.copy_(source.at(i).tensor);
    // The mean of two draws would be neither.
    const bool drawn = source[i].kind == TensorKind::kDrawn;
    (drawn ? copied_ : pairs_).emplace_back(tensor, source[i].tensor);
  }
}

double Ema::decay_at(int64_t step) const {
  if (!warmup_) return decay_;
  return std::min(decay_, 1 - std::pow(1 + static_cast<double>(step), -2.0 / 3));
}

void Ema::update(int64_t step) {
  const torch::NoGradGuard no_grad;
  const double keep = decay_at(step);
  for (auto& [average, source] : pairs_) average.lerp_(source, 1 - keep);
  for (auto& [copy, source] : copied_) copy.copy_(source);
}

}  // namespace soft
