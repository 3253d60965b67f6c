// Swin (Liu et al., 2021): attention inside windows that are shifted by half a window in every
// second block, with a learnt bias for each relative place:
//   softmax(q k' d^-1/2 + B[yi - yj, xi - xj] + mask) v
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "describe/zoo/parts.h"
#include "describe/zoo/zoo.h"

namespace soft::zoo {
namespace {

constexpr double kEpsilon = 1e-5;
constexpr float kApart = -100;  // added to the scores of tokens that are no neighbours

struct WindowBlock {
  Windows windows;
  int64_t shift, heads;
};

// Rows of the table for every pair of places in a window: [m², m²].
std::vector<int64_t> relative_rows(int64_t m) {
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < m * m; ++i) {
    for (int64_t j = 0; j < m * m; ++j) {
      rows.push_back((i / m - j / m + m - 1) * (2 * m - 1) + i % m - j % m + m - 1);
    }
  }
  return rows;
}

// [1, h, m², m²]
int relative_bias(Builder& net, const std::string& name, int64_t m, int64_t heads) {
  op::Stored table;
  table.rows = relative_rows(m);
  const int64_t stored = (2 * m - 1) * (2 * m - 1);
  const int rows = net.stored(name, {stored, heads}, table, Start::kNormal);
  const int64_t n = m * m;
  return net.reshape(net.permute(net.reshape(rows, {n, n, heads}), {2, 0, 1}), {1, heads, n, n});
}

// On a rolled map the last rows and columns come from the other side: [windows, 1, m², m²].
int shift_mask(Builder& net, const WindowBlock& block) {
  const auto [grid, m] = block.windows;
  const auto band = [&](int64_t at, int64_t side) {
    return at < side - block.windows.side ? 0 : at < side - block.shift ? 1 : 2;
  };
  const int64_t columns = grid.w / m, n = m * m;
  std::vector<float> mask;
  for (int64_t window = 0; window < block.windows.count(); ++window) {
    const auto region = [&, window_side = block.windows.side, h = grid.h,
                         w = grid.w](int64_t place) {
      const int64_t y = window / columns * window_side + place / window_side;
      const int64_t x = window % columns * window_side + place % window_side;
      return 3 * band(y, h) + band(x, w);
    };
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) mask.push_back(region(i) == region(j) ? 0 : kApart);
    }
  }
  return net.constant(mask, {block.windows.count(), 1, n, n});
}

// The map turned by (shift, shift) cells to the left and up.
int rolled(Builder& net, int tokens, Grid grid, int64_t shift) {
  int map = net.reshape(tokens, {grid.h, grid.w, net.shape(tokens).back()});
  for (const int64_t axis : {0, 1}) {
    const int64_t side = net.shape(map)[axis], first = (shift % side + side) % side;
    map = net.join({net.slice(map, {axis, first, side - first}), net.slice(map, {axis, 0, first})},
                   axis);
  }
  return net.reshape(map, {grid.size(), net.shape(map).back()});
}

int window_attention(Builder& net, int x, const std::string& name, const WindowBlock& block) {
  const int64_t dim = net.shape(x).back(), m = block.windows.side;
  if (block.shift > 0) x = rolled(net, x, block.windows.grid, block.shift);
  const int cut_up = cut(net, x, block.windows);
  std::vector<int> qkv = pieces(net, net.linear(cut_up, name + "qkv", 3 * dim), 3);
  for (int& part : qkv) part = split_heads(net, part, block.heads);
  int bias = relative_bias(net, name + "relative_position_bias_table", m, block.heads);
  if (block.shift > 0) bias = net.combine(bias, shift_mask(net, block), How::kPlus);
  const double scale = std::pow(static_cast<double>(dim / block.heads), -0.5);
  const int mixed = merge_heads(net, attend(net, qkv, scale, bias));
  x = joined(net, net.linear(mixed, name + "proj", dim), block.windows);
  return block.shift > 0 ? rolled(net, x, block.windows.grid, -block.shift) : x;
}

// Four neighbours become one token of twice the channels.
int merged(Builder& net, int x, Grid grid, const std::string& name) {
  const int64_t dim = net.shape(x).back();
  const int cells = net.reshape(x, {grid.h / 2, 2, grid.w / 2, 2, dim});
  const int turned = net.permute(cells, {0, 2, 3, 1, 4});  // column parity before row parity
  x = net.reshape(turned, {grid.size() / 4, 4 * dim});
  x = net.layer_norm(x, name + "norm", kEpsilon);
  return net.linear(x, name + "reduction", 2 * dim, false);
}

// The smaller side of a stage's map in training.
int64_t trained_side(const ModelSpec& spec, int stage) {
  const auto& trained = spec.list("trained");
  return std::min(trained[0], trained[1]) / (int64_t{spec.number("patch")} << stage);
}

bool is_whole(const ModelSpec& spec, int stage) {
  return trained_side(spec, stage) <= spec.number("window");
}

}  // namespace

int64_t swin_window(const ModelSpec& spec, int stage) {
  const int64_t window = spec.number("window");
  return is_whole(spec, stage) ? std::max<int64_t>(1, trained_side(spec, stage)) : window;
}

Description describe_swin(const ModelSpec& spec, Grid image) {
  Builder net;
  const auto &depths = spec.list("depths"), &heads = spec.list("heads");
  int64_t dim = spec.number("dim");
  Ramp ramp(depths);
  net.at({0, -1});
  auto [x, grid] = patches(net, net.pixels(image), "patch_embed.proj", dim, spec.number("patch"));
  x = net.layer_norm(x, "patch_embed.norm", kEpsilon);
  for (int s = 0; s < static_cast<int>(depths.size()); ++s, dim *= 2) {
    const Block shape{heads[s], spec.number("mlp_ratio") * dim, kEpsilon};
    const int64_t side = swin_window(spec, s);
    const bool whole = is_whole(spec, s);
    for (int i = 0; i < depths[s]; ++i) {
      net.at({s, i});
      const WindowBlock windows{{grid, side}, whole || i % 2 == 0 ? 0 : side / 2, heads[s]};
      const auto name = fmt::format("layers.{}.blocks.{}.", s, i);
      x = block_around(net, x, name, shape, ramp.next(), [&](int normed) {
        return window_attention(net, normed, name + "attn.", windows);
      });
    }
    net.end_stage({grid, 0, depths[s], x});
    if (s + 1 == static_cast<int>(depths.size())) break;
    net.at({s, depths[s] - 1});
    x = merged(net, x, grid, fmt::format("layers.{}.downsample.", s));
    grid = {grid.h / 2, grid.w / 2};
  }
  net.at({});
  net.linear(net.pool(net.layer_norm(x, "norm", kEpsilon), {false}), "head", spec.classes);
  return net.take();
}

}  // namespace soft::zoo
