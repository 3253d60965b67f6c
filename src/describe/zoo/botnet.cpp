// BoTNet-S1 (Srinivas et al., 2021): a ResNet with squeeze-and-excitation whose last stage keeps
// its stride and replaces 3x3 convolutions by attention over the whole map with relative positions:
//   softmax(q k' + q · (R_h[yk - yq] + R_w[xk - xq])) v,  q scaled by d^-1/2
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "describe/zoo/residual.h"
#include "describe/zoo/zoo.h"

namespace soft::zoo {
namespace {

constexpr Curve kCurve = Curve::kSilu;

int64_t squeezed(int64_t width) { return std::max<int64_t>(8, width / 16 / 8 * 8); }

// For every place of the query the rows of a table that its keys read: [side, side].
std::vector<int64_t> relative_rows(int64_t side) {
  std::vector<int64_t> rows;
  for (int64_t query = 0; query < side; ++query) {
    for (int64_t key = 0; key < side; ++key) rows.push_back(key - query + side - 1);
  }
  return rows;
}

// q [h, n, d] against the relative positions of one axis: [h, y, x, keys of that axis].
struct Axis {
  std::string name;
  int64_t side;
  bool rows;  // or columns
};
int relative_scores(Builder& net, int q, Grid grid, const Axis& axis, Grid made_for) {
  const int64_t h = net.shape(q)[0], d = net.shape(q)[2];
  const int64_t stored = 2 * (axis.rows ? made_for.h : made_for.w) - 1;
  op::Stored table;
  table.rows = relative_rows(axis.side);
  table.resized = 2 * axis.side - 1;
  const int places = net.reshape(net.stored(axis.name, {stored, d}, table, Start::kNormal),
                                 {axis.side, axis.side, d});
  int queries = net.reshape(q, {h, grid.h, grid.w, d});
  if (!axis.rows) queries = net.permute(queries, {0, 2, 1, 3});
  const int scores = net.product(queries, places, {true});
  return axis.rows ? scores : net.permute(scores, {0, 2, 1, 3});
}

int attention(Builder& net, int map, const std::string& name, int64_t heads, Grid made_for) {
  const int64_t dim = net.shape(map)[0], d = dim / heads, n = net.grid(map).size();
  const Grid grid = net.grid(map);
  op::Convolution projection{dim, 3 * dim};
  projection.bias = false;
  const int qkv = net.permute(
      net.reshape(net.convolution(map, name + "to_qkv", projection), {3 * heads, d, n}), {0, 2, 1});
  const auto third = [&](int64_t i) { return net.slice(qkv, {0, i * heads, heads}); };
  const auto scale = static_cast<float>(std::pow(d, -0.5));
  const int q = net.combine(third(0), net.constant({scale}, {1}), How::kTimes);  // [h, n, d]
  const int by_row =
      relative_scores(net, q, grid, {name + "pos_emb.rel_height", grid.h, true}, made_for);
  const int by_column =
      relative_scores(net, q, grid, {name + "pos_emb.rel_width", grid.w, false}, made_for);
  const int relative =
      net.combine(net.reshape(by_row, {heads, grid.h, grid.w, grid.h, 1}),
                  net.reshape(by_column, {heads, grid.h, grid.w, 1, grid.w}), How::kPlus);
  const int mixed = attend(net, {q, third(1), third(2)}, 1, net.reshape(relative, {heads, n, n}));
  return net.reshape(net.permute(mixed, {0, 2, 1}), {dim, grid.h, grid.w});
}

struct Bottleneck {
  int64_t out, inner, heads;
  bool squeeze;
  Grid made_for;  // the map whose relative positions are stored
};

int bottleneck(Builder& net, int x, const std::string& name, const Bottleneck& shape,
               const op::Residual& residual) {
  int kept = x;
  if (net.shape(x)[0] != shape.out) {
    kept = unit(net, x, name + "shortcut.0", name + "shortcut.1", {shape.out, 1, 1, 1, kCurve});
  }
  int y = unit(net, x, name + "net.0", name + "net.1", {shape.inner, 1, 1, 1, kCurve});
  y = attention(net, y, name + "net.3.", shape.heads, shape.made_for);
  y = net.batch_norm(y, name + "net.5", kCurve);
  y = unit(net, y, name + "net.7", name + "net.8", {shape.out, 1, 1, 1, Curve::kNone});
  if (shape.squeeze) y = squeeze_excite(net, y, name + "se.", squeezed(shape.out), kCurve);
  return net.activate(net.residual(kept, y, residual), kCurve);
}

int se_bottleneck(Builder& net, int x, const std::string& name, int64_t planes, int64_t stride) {
  const int64_t out = kExpansion * planes;
  x = unit(net, x, name + "conv1", name + "bn1", {planes, 1, 1, 1, kCurve});
  x = unit(net, x, name + "conv2", name + "bn2", {planes, 3, stride, 1, kCurve});
  x = unit(net, x, name + "conv3", name + "bn3", {out, 1, 1, 1, Curve::kNone});
  return squeeze_excite(net, x, name + "se.", squeezed(out), kCurve);
}

}  // namespace

Description describe_botnet(const ModelSpec& spec, Grid image) {
  Builder net;
  const auto& planes = spec.list("planes");
  const auto& depths = spec.list("depths");
  Ramp ramp(depths);
  int x = residual_stem(net, image, spec.number("stem"), kCurve);
  for (int s = 0; s < 3; ++s) {
    x = residual_stage(net, x, {s, planes[s], kExpansion, depths[s], kCurve}, ramp, se_bottleneck);
  }
  const auto sixteenth = [](int64_t side) { return (side + 15) / 16; };
  const auto& trained = spec.list("trained");  // height and width of the pictures, in pixels
  const Bottleneck last{kExpansion * planes[3],
                        planes[3],
                        spec.number("heads"),
                        spec.number("bot_se") != 0,
                        {sixteenth(trained[0]), sixteenth(trained[1])}};
  for (int i = 0; i < depths[3]; ++i) {
    net.at({3, i});
    x = bottleneck(net, x, fmt::format("layer4.net.{}.", i), last, ramp.next());
  }
  net.end_stage({net.grid(x), 0, depths[3], x});
  mean_head(net, x, "fc", spec.classes);
  return net.take();
}

}  // namespace soft::zoo
