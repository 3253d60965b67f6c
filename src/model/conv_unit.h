// 3x3 convolution, batch normalisation and ReLU: what the patch embeddings are made of. In training
// on the CPU in float32 the three are one autograd function over src/kernels/convolution.h and
// src/kernels/batch_norm.h; otherwise LibTorch's own layers run one after the other.
#pragma once

#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>

namespace soft {

struct ConvUnit {
  torch::nn::Conv2d conv{nullptr};
  torch::nn::BatchNorm2d norm{nullptr};

  torch::Tensor forward(const torch::Tensor& map);  // [B, C, H, W] -> [B, C', H', W']
};

}  // namespace soft
