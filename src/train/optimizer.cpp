#include "train/optimizer.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "attention/torch.h"
#include "spec/model_spec.h"

namespace soft {

using torch::Tensor;

bool decays(const std::string& name, const Tensor& parameter) {
  const bool bias = name.size() >= 5 && name.compare(name.size() - 5, 5, ".bias") == 0;
  return parameter.dim() > 1 && !bias && name != "cls_token";
}

namespace {

// "block2.0.att…" is layer 0 of stage 2; an embedding stands before layer 0 of its stage.
struct Place {
  int stage = 0;  // counted from 1; 0: behind all layers
  int layer = 0;
};

Place place_of(const std::string& name) {
  Place place;
  if (std::sscanf(name.c_str(), "block%d.%d.", &place.stage, &place.layer) == 2) return place;
  for (const char* form : {"patch_embed%d", "pos_embed%d"}) {
    if (std::sscanf(name.c_str(), form, &place.stage) == 1) return {place.stage, 0};
  }
  return {};
}

}  // namespace

std::map<std::string, int64_t> layers_below_head(const torch::nn::Module& model) {
  std::map<int, int64_t> depths;  // of the stages
  std::map<std::string, int64_t> layers;
  for (const auto& item : model.named_parameters()) {
    const Place place = place_of(item.key());
    if (place.stage > 0)
      depths[place.stage] = std::max<int64_t>(depths[place.stage], place.layer + 1);
  }
  for (const auto& item : model.named_parameters()) {
    const Place place = place_of(item.key());
    const bool token = item.key() == "cls_token";  // joins where the last stage begins
    int64_t between = place.stage > 0 ? -place.layer : 0;
    if (place.stage == 1 && item.key().rfind("block", 0) != 0) ++between;
    for (const auto& [stage, depth] : depths) {
      if ((place.stage > 0 && stage >= place.stage) || (token && stage == depths.rbegin()->first)) {
        between += depth;
      }
    }
    layers[item.key()] = between;
  }
  return layers;
}

AdamW::AdamW(torch::nn::Module& model, const Recipe& recipe)
    : beta1_(recipe.beta1),
      beta2_(recipe.beta2),
      eps_(recipe.eps),
      weight_decay_(recipe.weight_decay) {
  const auto layers = layers_below_head(model);
  for (const auto& item : model.named_parameters()) {
    const Tensor& parameter = item.value();
    if (!parameter.requires_grad()) continue;
    slots_.push_back({item.key(), parameter, torch::zeros_like(parameter),
                      torch::zeros_like(parameter),
                      recipe.decay_all || decays(item.key(), parameter),
                      std::pow(recipe.layer_decay, static_cast<double>(layers.at(item.key())))});
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

namespace {

std::map<std::string, Tensor> collect(torch::nn::Module& model) {
  std::map<std::string, Tensor> tensors;
  for (const auto& item : model.named_parameters()) tensors[item.key()] = item.value();
  for (const auto& item : model.named_buffers()) {
    if (item.value().is_floating_point()) tensors[item.key()] = item.value();
  }
  return tensors;
}

// Random features: the mean of two draws would be neither.
bool is_drawn(const std::string& name) {
  const std::string last = "." + std::string(kFeaturesName);
  return name.size() > last.size() &&
         name.compare(name.size() - last.size(), last.size(), last) == 0;
}

}  // namespace

Ema::Ema(torch::nn::Module& average, torch::nn::Module& source, const Recipe& recipe)
    : decay_(recipe.ema_decay), warmup_(recipe.ema_warmup) {
  const auto sources = collect(source);
  const torch::NoGradGuard no_grad;
  for (auto& [name, tensor] : collect(average)) {
    const Tensor& from = sources.at(name);
    tensor.copy_(from);
    (is_drawn(name) ? copied_ : pairs_).emplace_back(tensor, from);
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
