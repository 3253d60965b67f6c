// What training drops from a residual branch. Each sample's share is drawn from a generator of its
// own, keyed by the sample's place in the epoch: neither the batch it is in nor the number of
// processes that share the epoch changes what is dropped.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace soft {

// Samples of the batch under way, in its order.
struct SampleKeys {
  uint64_t seed = 0;
  int64_t epoch = 0;
  std::vector<int64_t> positions;  // in the epoch
};

// While one lives, what this thread drops is keyed by its samples; draws are counted in the order
// in which the layers run. Without one a seed from LibTorch's default generator decides.
class SampleScope {
 public:
  explicit SampleScope(SampleKeys keys);
  ~SampleScope();
  SampleScope(const SampleScope&) = delete;
  SampleScope& operator=(const SampleScope&) = delete;
};

// What this thread would drop next.
struct DropPoint {
  std::optional<SampleKeys> keys;  // of the scope, if there is one
  uint64_t draws = 0;
  torch::Tensor generator;  // state of LibTorch's default one
};
DropPoint next_drops();

// While one lives, this thread drops what it dropped from that point on; then it goes on as before.
class DropAgain {
 public:
  explicit DropAgain(const DropPoint& point);
  ~DropAgain();
  DropAgain(const DropAgain&) = delete;
  DropAgain& operator=(const DropAgain&) = delete;

 private:
  void* before_;
  torch::Tensor generator_;
};

// Keeps each element, or each sample as a whole, of [B, n, C] with probability 1 - rate, scaled so
// that its expectation stays.
torch::Tensor drop_elements(const torch::Tensor& branch, double rate);
torch::Tensor drop_samples(const torch::Tensor& branch, double rate);

}  // namespace soft
