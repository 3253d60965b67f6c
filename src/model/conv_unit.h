// A convolution, and with it batch normalisation and ReLU: what the patch embeddings are made of.
// In training on the CPU in float32 the three are one autograd function over
// src/kernels/convolution.h and src/kernels/batch_norm.h; otherwise LibTorch's own operations run
// one after the other.
#pragma once

#include <torch/types.h>

namespace soft {

struct BatchNorm {
  torch::Tensor weight, bias, mean, variance;  // [C']; the last two follow the batches in training
};

struct ConvUnit {
  torch::Tensor weight, bias;  // [C', C / groups, k, k]; [C'] or undefined
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t groups = 1;
  BatchNorm norm{};
  bool training = false;

  torch::Tensor convolved(const torch::Tensor& map) const;  // [B, C, H, W] -> [B, C', H', W']
  torch::Tensor normed(const torch::Tensor& map) const;
  torch::Tensor forward(const torch::Tensor& map) const;  // all three
};

}  // namespace soft
