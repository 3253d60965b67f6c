// The torch face of the value-path kernels: y + conv(V) as one autograd function that reads V where
// it lies. LibTorch's own depthwise convolution of B·d small maps is what a training step would
// otherwise wait for most. The plain expression stays beside it in attention.cpp.
#pragma once

#include <torch/types.h>

#include "attention/attention.h"

namespace soft {

// y + conv(v) on the tokens' grid; class tokens keep y. y, v [B, h, n, d]; kernel [h, 1, kh, kw].
torch::Tensor fused_value_path(const torch::Tensor& y, const torch::Tensor& v,
                               const torch::Tensor& kernel, const Tokens& tokens);

}  // namespace soft
