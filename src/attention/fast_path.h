// When the kernels stand in for a tensor expression: on the CPU, in float32, unless switched off.
// The plain expressions stay beside them, for other devices and types and as the oracle of tests.
#pragma once

#include <torch/types.h>

namespace soft {

bool fast_path_applies(const torch::Tensor& t);

bool use_fast_path();  // on from the start
void set_use_fast_path(bool use);

// Which kernels ran how often since the start: a silent fall-back shows here.
enum class FastPath { kSoft, kValuePath, kGelu, kLinear, kConvolution, kInverse };
void count_fast_path(FastPath path);
int64_t fast_path_calls(FastPath path);

}  // namespace soft
