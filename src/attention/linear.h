// A linear layer's output. On the CPU in float32 the three products of a training step run on
// src/kernels/large_gemm.h; everywhere else this is LibTorch's own.
#pragma once

#include <torch/types.h>

namespace soft {

// [..., in] -> [..., out]; weight [out, in], bias [out] or undefined.
torch::Tensor linear(const torch::Tensor& x, const torch::Tensor& weight,
                     const torch::Tensor& bias);

}  // namespace soft
