// A linear layer's output. On the CPU in float32 the three products of a training step run on
// src/kernels/large_gemm.h; everywhere else this is the layer itself.
#pragma once

#include <torch/nn/modules/linear.h>

namespace soft {

torch::Tensor linear(torch::nn::Linear& layer, const torch::Tensor& x);  // [..., in] -> [..., out]

}  // namespace soft
