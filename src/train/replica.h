// One rank's copy of a model that several ranks train together: after every step all copies hold
// the same bits. What the ranks must agree on at a step (loss, the wish to stop) travels with the
// gradients.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "group/group.h"
#include "metric/evaluate.h"
#include "model/batch_sync.h"
#include "train/buckets.h"
#include "train/recipe.h"

namespace torch::nn {
class Module;
}

namespace soft {

// Of one step, on one rank or on all.
struct StepSums {
  double loss = 0;  // times samples
  double samples = 0;
  double stop = 0;  // ranks that were asked to stop
};

class Replica {
 public:
  struct Tensors {
    std::vector<torch::Tensor> parameters;  // the trained ones, in the order of the forward pass
    std::vector<torch::Tensor> statistics;  // running means and variances of batch norms
  };
  Replica(Group& group, const torch::nn::Module& model, Tensors tensors, const Recipe& recipe);

  // The last part of a step is about to go backward: its loss and those of the parts before it.
  void begin(const StepSums& own);
  // Gradients are those of the whole batch, running statistics the means of all ranks'.
  StepSums finish();

  StepSums sum(const StepSums& own);  // of parts that made no step

  // Over all validation pictures; nothing when a rank was asked to stop meanwhile.
  std::optional<Evaluation> total(const Evaluation& own, bool stopped);

  double waited() const { return buckets_.waited() + waited_; }  // seconds, in all

 private:
  Group& group_;
  const torch::nn::Module& model_;
  double samples_of_step_;
  std::vector<torch::Tensor> statistics_;
  Buckets buckets_;
  std::unique_ptr<BatchSync> sync_;
  torch::Tensor ballot_, means_;
  Group::Finish ballot_in_, means_in_;
  double waited_ = 0;
};

}  // namespace soft
