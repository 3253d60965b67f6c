#include "train/optimizer.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "attention/fast_path.h"
#include "attention/torch.h"
#include "base/parallel.h"
#include "kernels/adamw.h"

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

// Pieces of all slots together are shared among the threads: most slots are small.
void AdamW::step(double lr, double clip) {
  const torch::NoGradGuard no_grad;
  ++steps_;
  constexpr int64_t kPiece = 1 << 15;
  std::vector<Tensor> gradients;  // held until the pieces are done
  std::vector<std::pair<AdamWStep, AdamWSlice>> pieces;
  for (Slot& slot : slots_) {
    if (!slot.parameter.grad().defined()) continue;
    if (!fast_path_applies(slot.parameter) || !slot.parameter.is_contiguous()) {
      step_plainly(slot, lr, clip);
      continue;
    }
    gradients.push_back(slot.parameter.grad().contiguous());
    const AdamWStep step = kernel_step(slot, lr, clip);
    const int64_t count = slot.parameter.numel();
    slot.parameter.unsafeGetTensorImpl()->bump_version();  // as an operation of LibTorch would
    for (int64_t at = 0; at < count; at += kPiece) {
      pieces.push_back({step,
                        {std::min(kPiece, count - at), gradients.back().data_ptr<float>() + at,
                         slot.parameter.data_ptr<float>() + at, slot.mean.data_ptr<float>() + at,
                         slot.square.data_ptr<float>() + at}});
    }
  }
  parallel_for(static_cast<int64_t>(pieces.size()), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) adamw(pieces[i].first, pieces[i].second);
  });
}

AdamWStep AdamW::kernel_step(const Slot& slot, double lr, double clip) const {
  const double rate = lr * slot.rate;
  AdamWStep step;
  step.clip = static_cast<float>(clip);
  step.beta1 = static_cast<float>(beta1_);
  step.gain1 = static_cast<float>(1 - beta1_);
  step.beta2 = static_cast<float>(beta2_);
  step.gain2 = static_cast<float>(1 - beta2_);
  step.epsilon = static_cast<float>(eps_);
  step.keep = static_cast<float>(slot.decays ? 1 - rate * weight_decay_ : 1);
  step.rate = static_cast<float>(rate / correction1());
  step.correction = static_cast<float>(correction2());
  return step;
}

void AdamW::step_plainly(Slot& slot, double lr, double clip) {
  const Tensor gradient = slot.parameter.grad() * clip;
  const double rate = lr * slot.rate;
  if (slot.decays) slot.parameter.mul_(1 - rate * weight_decay_);
  slot.mean.mul_(beta1_).add_(gradient, 1 - beta1_);
  slot.square.mul_(beta2_).addcmul_(gradient, gradient, 1 - beta2_);
  const Tensor denominator = (slot.square.sqrt() / correction2()).add_(eps_);
  slot.parameter.addcdiv_(slot.mean, denominator, -rate / correction1());
}

double AdamW::correction1() const { return 1 - std::pow(beta1_, static_cast<double>(steps_)); }

double AdamW::correction2() const {
  return std::sqrt(1 - std::pow(beta2_, static_cast<double>(steps_)));
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

double global_norm(const std::vector<Tensor>& gradients) {
  std::vector<double> squares(gradients.size());
  parallel_for(static_cast<int64_t>(gradients.size()), [&](int64_t begin, int64_t end) {
    const torch::NoGradGuard no_grad;
    for (int64_t i = begin; i < end; ++i) {
      const Tensor& own = gradients[i];
      squares[i] = fast_path_applies(own) && own.is_non_overlapping_and_dense()
                       ? sum_of_squares(own.data_ptr<float>(), own.numel())
                       : own.square().sum(torch::kFloat64).item<double>();
    }
  });
  return std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
}

double clip_factor(double norm, double limit) {
  return limit > 0 && norm > limit ? limit / (norm + 1e-6) : 1;
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
