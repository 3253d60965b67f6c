// PVT (Wang et al., 2021): four stages of transformer blocks whose keys and values come from a map
// shrunk by a convolution.
#include <fmt/format.h>

#include "describe/zoo/parts.h"
#include "describe/zoo/zoo.h"

namespace soft::zoo {

Description describe_pvt(const ModelSpec& spec, Grid image) {
  constexpr double kEpsilon = 1e-6;
  Builder net;
  const auto &dims = spec.list("dims"), &heads = spec.list("heads"),
             &ratios = spec.list("mlp_ratios"), &depths = spec.list("depths"),
             &reductions = spec.list("reductions");
  Ramp ramp(depths);
  net.at({0, -1});
  int map = net.pixels(image), x = 0;
  int64_t shrunk = 1;  // of the picture so far
  for (int s = 0; s < static_cast<int>(dims.size()); ++s) {
    net.at({s, -1});
    const int64_t side = s == 0 ? spec.number("patch") : 2;
    shrunk *= side;
    const auto embed = fmt::format("patch_embed{}.", s + 1);
    const Patches embedded = patches(net, map, embed + "proj", dims[s], side);
    const Grid grid = embedded.grid;
    x = net.layer_norm(embedded.tokens, embed + "norm", 1e-5);
    const bool last = s + 1 == static_cast<int>(dims.size());
    const int64_t prefix = last ? 1 : 0;
    if (last) x = net.class_token(x, "cls_token");
    const Grid made_for{spec.image_size / shrunk, spec.image_size / shrunk};
    x = net.position(x, fmt::format("pos_embed{}", s + 1), {made_for, grid, prefix});
    Block shape{heads[s], int64_t{ratios[s]} * dims[s], kEpsilon};
    for (int i = 0; i < depths[s]; ++i) {
      net.at({s, i});
      const auto name = fmt::format("block{}.{}.", s + 1, i);
      x = block_around(net, x, name, shape, ramp.next(), [&](int normed) {
        return reduced_attention(net, normed, name + "attn.",
                                 {grid, prefix, heads[s], reductions[s]});
      });
    }
    net.end_stage({grid, prefix, depths[s], x});
    if (!last) map = net.unflatten(x, {grid, 0});
  }
  net.at({});
  net.linear(net.pool(net.layer_norm(x, "norm", kEpsilon), {true}), "head", spec.classes);
  return net.take();
}

}  // namespace soft::zoo
