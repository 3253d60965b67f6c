// Pictures (or the previous stage's map) to tokens.
// * overlapping: 3x3 convolutions + BN + ReLU, three as the stem, one before each later stage
// * PVT style: one convolution with kernel = stride, then LayerNorm (Table 5b)
// * flat: one convolution over patch x patch pixels
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/normalization.h>

#include <vector>

#include "base/grid.h"
#include "model/conv_unit.h"
#include "spec/model_spec.h"

namespace soft {

struct Embedded {
  torch::Tensor tokens;  // [B, n, C], row by row
  Grid grid;
};

class PatchEmbed : public torch::nn::Module {
 public:
  PatchEmbed(const ModelSpec& spec, int stage);
  Embedded forward(const torch::Tensor& map);  // [B, C_in, H, W]

 private:
  void add_conv_bn(int64_t in, int64_t out, int64_t stride);
  void add_patches(int64_t in, int64_t out, int64_t side, bool norm);

  std::shared_ptr<torch::nn::Module> proj_;  // children are numbered as in published files
  std::vector<ConvUnit> units_;              // overlapping
  torch::nn::Conv2d patches_{nullptr};       // PVT style and flat
  torch::nn::LayerNorm patch_norm_{nullptr};
};

}  // namespace soft
