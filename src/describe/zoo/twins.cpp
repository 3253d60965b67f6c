// Twins-SVT (Chu et al., 2021): blocks look inside windows and, in turns, at a shrunk map of the
// whole; positions come from a convolution behind the first block of each stage.
#include <fmt/format.h>

#include <cmath>

#include "describe/zoo/parts.h"
#include "describe/zoo/zoo.h"

namespace soft::zoo {
namespace {

// A map whose sides the window does not divide is padded with zeros on the right and at the bottom.
int window_attention(Builder& net, int x, const std::string& name, Grid grid, int64_t heads,
                     int64_t side) {
  const int64_t dim = net.shape(x).back();
  const auto padded = [&](int64_t length) { return (length + side - 1) / side * side; };
  const Windows windows{{padded(grid.h), padded(grid.w)}, side};
  const bool whole = windows.grid == grid;
  if (!whole) {
    const int map = net.unflatten(x, {grid, 0});
    x = net.flatten(net.pad(map, {0, 0, windows.grid.h - grid.h, windows.grid.w - grid.w, false}));
  }
  const int cut_up = cut(net, x, windows);
  std::vector<int> qkv = pieces(net, net.linear(cut_up, name + "qkv", 3 * dim), 3);
  for (int& part : qkv) part = split_heads(net, part, heads);
  const double scale = std::pow(static_cast<double>(dim / heads), -0.5);
  x = joined(net, merge_heads(net, attend(net, qkv, scale)), windows);
  if (!whole) {
    const int map = net.unflatten(x, {windows.grid, 0});
    x = net.flatten(net.slice(net.slice(map, {1, 0, grid.h}), {2, 0, grid.w}));
  }
  return net.linear(x, name + "proj", dim);
}

}  // namespace

Description describe_twins(const ModelSpec& spec, Grid image) {
  constexpr double kEpsilon = 1e-6;
  Builder net;
  const auto &dims = spec.list("dims"), &heads = spec.list("heads"), &depths = spec.list("depths"),
             &reductions = spec.list("reductions"), &windows = spec.list("windows");
  Ramp ramp(depths);
  net.at({0, -1});
  int map = net.pixels(image), x = 0;
  for (int s = 0; s < static_cast<int>(dims.size()); ++s) {
    net.at({s, -1});
    const auto embed = fmt::format("patch_embeds.{}.", s);
    const Patches embedded =
        patches(net, map, embed + "proj", dims[s], s == 0 ? spec.number("patch") : 2);
    const Grid grid = embedded.grid;
    x = net.layer_norm(embedded.tokens, embed + "norm", 1e-5);
    const Block shape{heads[s], int64_t{spec.number("mlp_ratio")} * dims[s], kEpsilon};
    for (int i = 0; i < depths[s]; ++i) {
      net.at({s, i});
      const auto name = fmt::format("blocks.{}.{}.", s, i);
      x = block_around(net, x, name, shape, ramp.next(), [&](int normed) {
        if (i % 2 == 0) {
          return window_attention(net, normed, name + "attn.", grid, heads[s], windows[s]);
        }
        return reduced_attention(net, normed, name + "attn.", {grid, 0, heads[s], reductions[s]});
      });
      if (i == 0) x = position_encoding(net, x, grid, 0, fmt::format("pos_block.{}.proj.0", s));
    }
    net.end_stage({grid, 0, depths[s], x});
    map = net.unflatten(x, {grid, 0});
  }
  net.at({});
  net.linear(net.pool(net.layer_norm(x, "norm", kEpsilon), {false}), "head", spec.classes);
  return net.take();
}

}  // namespace soft::zoo
