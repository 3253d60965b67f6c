// Batch normalisation over the batches of several processes: where a function that adds up over
// them is given, the patch embeddings use it for their statistics and for the gradients of these.
#pragma once

#include <torch/types.h>

#include <functional>

namespace soft {

// Adds up a float64 tensor over all processes, in place. Called by all of them in the same order.
using SumOverProcesses = std::function<void(torch::Tensor sums)>;

// While one lives, in all threads.
class BatchSync {
 public:
  explicit BatchSync(SumOverProcesses sum);
  ~BatchSync();
  BatchSync(const BatchSync&) = delete;
  BatchSync& operator=(const BatchSync&) = delete;
};

bool batches_are_synced();
void sum_over_processes(const torch::Tensor& sums);  // does nothing where they are not

}  // namespace soft
