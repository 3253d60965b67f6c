// AdamW with decoupled weight decay, and an exponential moving average of a model. Both keep their
// state in plain tensors under the parameters' names, so that a checkpoint is just more named
// tensors.
#pragma once

#include <string>
#include <vector>

#include "kernels/adamw.h"
#include "model/classifier.h"
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
  AdamW(const std::vector<ModelTensor>& tensors, const Recipe& recipe);

  // On `clip` times the gradients.
  void step(double lr, double clip = 1);
  void zero_grad();
  std::vector<torch::Tensor> gradients() const;  // defined ones only
  std::vector<Slot>& slots() { return slots_; }
  int64_t steps() const { return steps_; }
  void set_steps(int64_t steps) { steps_ = steps; }
  void set_beta1(double beta1) { beta1_ = beta1; }  // for schedules that move it

 private:
  void step_plainly(Slot& slot, double lr, double clip);  // as tensor expressions
  AdamWStep kernel_step(const Slot& slot, double lr, double clip) const;
  double correction1() const;
  double correction2() const;

  double beta1_, beta2_, eps_, weight_decay_;
  int64_t steps_ = 0;
  std::vector<Slot> slots_;
};

double global_norm(const std::vector<torch::Tensor>& gradients);  // L2

// What gradients of this norm are multiplied by so that it is at most `limit`; 0 limits nothing.
double clip_factor(double norm, double limit);

class Ema {
 public:
  // `average` starts as a copy of `source`; both have the same tensors in the same order.
  Ema(const std::vector<ModelTensor>& average, const std::vector<ModelTensor>& source,
      const Recipe& recipe);
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
