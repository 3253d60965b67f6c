// CoaT-Lite (Xu et al., 2021): factorised attention, whose cost is linear in the tokens, with a
// convolution of V weighed by Q as relative position:
//   Y = d^-1/2 Q (softmax_n(K)' V) + Q ⊙ conv(V)
#include <fmt/format.h>

#include <cmath>

#include "describe/zoo/parts.h"
#include "describe/zoo/zoo.h"

namespace soft::zoo {
namespace {

constexpr double kEpsilon = 1e-6;
// Of eight heads the first two see 3x3 cells, the next three 5x5, the last three 7x7.
struct Reach {
  int64_t heads, kernel;
};
constexpr Reach kReaches[] = {{2, 3}, {3, 5}, {3, 7}};

// conv(V) on the picture's tokens: [n, C].
int convolved(Builder& net, int v, Grid grid, const std::string& name, int64_t d) {
  const int map = net.unflatten(v, {grid, 1});
  std::vector<int> parts;
  int64_t first = 0;
  for (size_t i = 0; i < std::size(kReaches); ++i) {
    const int64_t channels = kReaches[i].heads * d;
    const int slice = net.slice(map, {0, first, channels});
    parts.push_back(
        depthwise(net, slice, fmt::format("{}conv_list.{}", name, i), kReaches[i].kernel));
    first += channels;
  }
  return net.flatten(net.join(parts, 0));
}

int factorised(Builder& net, int x, const std::string& name, const std::string& shared, Grid grid,
               int64_t heads) {
  const int64_t dim = net.shape(x).back(), d = dim / heads, n = grid.size();
  const std::vector<int> qkv = pieces(net, net.linear(x, name + "qkv", 3 * dim), 3);
  const auto split = [&](int part) { return split_heads(net, part, heads); };
  const int key = net.permute(net.softmax(split(qkv[1]), 1), {0, 2, 1});  // [h, d, n]
  const int context = net.product(key, split(qkv[2]), {});                // [h, d, d]
  const double scale = std::pow(static_cast<double>(d), -0.5);
  const int mixed = merge_heads(net, net.product(split(qkv[0]), context, {false, scale}));
  const int near = net.combine(net.slice(qkv[0], {0, 1, n}),
                               convolved(net, qkv[2], grid, shared, d), How::kTimes);
  const int picture = net.combine(net.slice(mixed, {0, 1, n}), near, How::kPlus);
  return net.linear(net.join({net.slice(mixed, {0, 0, 1}), picture}, 0), name + "proj", dim);
}

}  // namespace

Description describe_coat(const ModelSpec& spec, Grid image) {
  Builder net;
  const auto &dims = spec.list("dims"), &ratios = spec.list("mlp_ratios"),
             &depths = spec.list("depths");
  const int64_t heads = spec.number("heads");
  Ramp ramp(depths);
  net.at({0, -1});
  int map = net.pixels(image), x = 0;
  for (int s = 0; s < static_cast<int>(dims.size()); ++s) {
    net.at({s, -1});
    const auto embed = fmt::format("patch_embed{}.", s + 1);
    const Patches embedded =
        patches(net, map, embed + "proj", dims[s], s == 0 ? spec.number("patch") : 2);
    const Grid grid = embedded.grid;
    x = net.layer_norm(embedded.tokens, embed + "norm", 1e-5);
    x = net.class_token(x, fmt::format("cls_token{}", s + 1));
    const Block shape{heads, int64_t{ratios[s]} * dims[s], kEpsilon};
    const auto near = fmt::format("crpe{}.", s + 1);  // shared by the blocks of a stage
    for (int i = 0; i < depths[s]; ++i) {
      net.at({s, i});
      const auto name = fmt::format("serial_blocks{}.{}.", s + 1, i);
      x = position_encoding(net, x, grid, 1, fmt::format("cpe{}.proj", s + 1));
      x = block_around(net, x, name, shape, ramp.next(), [&](int normed) {
        return factorised(net, normed, name + "factoratt_crpe.", near, grid, heads);
      });
    }
    net.end_stage({grid, 1, depths[s], x});
    // Files hold a norm for every stage; only the last one is used.
    net.declare_norm(fmt::format("norm{}", s + 1), dims[s]);
    map = net.unflatten(x, {grid, 1});
  }
  net.at({});
  x = net.layer_norm(x, fmt::format("norm{}", dims.size()), kEpsilon);
  net.linear(net.pool(x, {true}), "head", spec.classes);
  return net.take();
}

}  // namespace soft::zoo
