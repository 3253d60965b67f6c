// ViT (Dosovitskiy et al., 2021) and DeiT (Touvron et al., 2021) under timm's names, and CPVT (Chu
// et al., 2021), which replaces learnt positions by a convolution behind the first block.
#include <fmt/format.h>

#include <cmath>

#include "describe/zoo/parts.h"
#include "describe/zoo/zoo.h"

namespace soft::zoo {

Description describe_vit(const ModelSpec& spec, Grid image) {
  Builder net;
  const int64_t dim = spec.number("dim"), patch = spec.number("patch");
  const int depth = spec.number("depth");
  const bool convolved = spec.number("conditional") != 0, old = spec.number("old_scale") != 0;
  Ramp ramp({depth});
  net.at({0, -1});
  auto [x, grid] = patches(net, net.pixels(image), "patch_embed.proj", dim, patch);
  x = net.class_token(x, "cls_token");
  if (!convolved) {
    const Grid made_for{spec.image_size / patch, spec.image_size / patch};
    x = net.position(x, "pos_embed", {made_for, grid, 1, true});
  }
  Block shape{spec.number("heads"), spec.number("mlp_ratio") * dim, old ? 1e-5 : 1e-6, !old};
  shape.grid = grid;
  shape.prefix = 1;
  if (old) shape.scale = std::pow(static_cast<double>(dim), -0.5);
  for (int i = 0; i < depth; ++i) {
    net.at({0, i});
    x = block(net, x, fmt::format("blocks.{}.", i), shape, ramp.next());
    if (convolved && i == 0) x = position_encoding(net, x, grid, 1, "pos_block.0.proj.0");
  }
  net.end_stage({grid, 1, depth, x});
  net.at({});
  x = net.layer_norm(x, "norm", shape.epsilon);
  net.linear(net.pool(x, {true}), "head", spec.classes);
  return net.take();
}

}  // namespace soft::zoo
