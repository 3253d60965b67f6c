// AdamW with decoupled weight decay, and an exponential moving average of a model. Both keep their
// state in plain tensors under the parameters' names, so that a checkpoint is just more named
// tensors.
#pragma once

#include <torch/nn/module.h>

#include <map>
#include <string>
#include <vector>

#include "train/recipe.h"

namespace soft {

struct Slot {
  std::string name;
  torch::Tensor parameter;
  torch::Tensor mean;    // first moment
  torch::Tensor square;  // second moment
  bool decays = true;
  double rate = 1;  // times the learning rate
};

class AdamW {
 public:
  // Only parameters that require gradients are trained.
  AdamW(torch::nn::Module& model, const Recipe& recipe);

  void step(double lr);
  void zero_grad();
  std::vector<torch::Tensor> gradients() const;  // defined ones only
  std::vector<Slot>& slots() { return slots_; }
  int64_t steps() const { return steps_; }
  void set_steps(int64_t steps) { steps_ = steps; }

 private:
  double beta1_, beta2_, eps_, weight_decay_;
  int64_t steps_ = 0;
  std::vector<Slot> slots_;
};

// 1-D tensors, biases and the class token are not decayed; position embeddings are.
bool decays(const std::string& name, const torch::Tensor& parameter);

// How many layers lie between each parameter and the head: 0 for the head and the norm before it,
// one more than the deepest layer for the first patch embedding.
std::map<std::string, int64_t> layers_below_head(const torch::nn::Module& model);

// Scales gradients so that their global L2 norm is at most `limit`; returns the norm before.
double clip_gradients(const std::vector<torch::Tensor>& gradients, double limit);

class Ema {
 public:
  // `average` starts as a copy of `source`; both have the same tensors.
  Ema(torch::nn::Module& average, torch::nn::Module& source, const Recipe& recipe);
  void update(int64_t step);  // steps count from 1
  double decay_at(int64_t step) const;

 private:
  double decay_;
  bool warmup_;
  using Pairs = std::vector<std::pair<torch::Tensor, torch::Tensor>>;  // average, source
  Pairs pairs_;
  Pairs copied_;  // random features, which are drawn and have no average
};

}  // namespace soft
