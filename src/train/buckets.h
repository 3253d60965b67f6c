// Gradients of all ranks, added up while backward still makes more of them: flat buckets in the
// order in which backward fills them, each sent off as soon as it is full.
#pragma once

#include <torch/types.h>

#include <memory>
#include <vector>

#include "group/group.h"

namespace soft {

struct BucketOptions {
  int64_t bytes = 25 << 20;  // of a bucket, at least one parameter
  bool half = false;         // send float16
};

class Buckets {
 public:
  // `parameters` in the order of the forward pass; those that backward does not reach are no hang:
  // they stay without a gradient where no rank has one.
  Buckets(Group& group, std::vector<torch::Tensor> parameters, const BucketOptions& options);
  ~Buckets();
  Buckets(const Buckets&) = delete;
  Buckets& operator=(const Buckets&) = delete;

  // The next backward is the last one of a step: from now on buckets are sent. `weight` is this
  // rank's number of samples, in units that all ranks share.
  void begin(double weight);

  // Sends the rest and waits. Every gradient is then the mean over all samples of all ranks.
  void finish();

  size_t count() const;             // of buckets
  double waited() const;            // seconds that `finish` stood still, in all
  size_t sent_in_backward() const;  // buckets of the last step that `begin` … `finish` hid

 private:
  struct State;
  std::shared_ptr<State> state_;  // also held by the hooks, which live as long as the parameters
};

}  // namespace soft
