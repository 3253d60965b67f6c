#include "model/patch_embed.h"

#include "attention/torch.h"

namespace soft {

using torch::Tensor;

PatchEmbed::PatchEmbed(const ModelSpec& spec, int stage) {
  proj_ = register_module("proj", std::make_shared<torch::nn::Module>("proj"));
  const int64_t dim = spec.stages[stage].dim;
  const int64_t in = stage == 0 ? 3 : spec.stages[stage - 1].dim;
  const auto& strides = spec.stem_strides;
  if (!spec.pyramid) {
    add_patches(in, dim, spec.patch, false);
  } else if (!spec.overlap) {
    add_patches(in, dim, stage == 0 ? strides[0] * strides[1] * strides[2] : 2, true);
  } else if (stage == 0) {
    add_conv_bn(in, spec.stem_dim, strides[0]);
    add_conv_bn(spec.stem_dim, spec.stem_dim, strides[1]);
    add_conv_bn(spec.stem_dim, dim, strides[2]);
  } else {
    add_conv_bn(in, dim, 2);
  }
}

// Published names count the ReLU too: conv 0, BN 1, ReLU 2, conv 3, …
void PatchEmbed::add_conv_bn(int64_t in, int64_t out, int64_t stride) {
  const size_t first = 3 * units_.size();
  ConvUnit unit;
  unit.conv = proj_->register_module(
      std::to_string(first),
      torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 3).stride(stride).padding(1)));
  unit.norm = proj_->register_module(std::to_string(first + 1), torch::nn::BatchNorm2d(out));
  units_.push_back(unit);
}

void PatchEmbed::add_patches(int64_t in, int64_t out, int64_t side, bool norm) {
  const auto options = torch::nn::Conv2dOptions(in, out, side).stride(side);
  patches_ = proj_->register_module("0", torch::nn::Conv2d(options));
  if (!norm) return;
  patch_norm_ =
      proj_->register_module("1", torch::nn::LayerNorm(torch::nn::LayerNormOptions({out})));
}

Embedded PatchEmbed::forward(const Tensor& map) {
  Tensor x = map;
  for (ConvUnit& unit : units_) x = unit.forward(x);
  if (patches_) x = patches_(x);
  const Grid grid{x.size(2), x.size(3)};
  x = x.flatten(2).transpose(1, 2);  // [B, n, C]
  if (patch_norm_) x = patch_norm_(x);
  return {x, grid};
}

}  // namespace soft
