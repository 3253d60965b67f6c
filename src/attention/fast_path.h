// When the kernels stand in for a tensor expression: on the CPU, in float32, unless switched off.
// The plain expressions stay beside them, for other devices and types and as the oracle of tests.
#pragma once

#include <torch/types.h>

namespace soft {

bool fast_path_applies(const torch::Tensor& t);

// While one lives, the kernels are allowed or not, in all threads; then again as they were before.
class FastPathScope {
 public:
  explicit FastPathScope(bool use);
  ~FastPathScope();
  FastPathScope(const FastPathScope&) = delete;
  FastPathScope& operator=(const FastPathScope&) = delete;

 private:
  bool before_;
};

// Which kernels ran how often since the start: a silent fall-back shows here.
enum class FastPath {
  kSoft,
  kValuePath,
  kGelu,
  kLinear,
  kProduct,
  kConvolution,
  kInverse,
  kSoftmax,
  kDropout
};
void count_fast_path(FastPath path);
int64_t fast_path_calls(FastPath path);

}  // namespace soft
