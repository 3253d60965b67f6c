// SAN (Zhao et al., 2020): self-attention over k x k neighbourhoods with vector weights.
//   pairwise   w(p, j) = softmax_j γ([a(p) - b(p+j); e(p) - e(p+j)]), e a map of the coordinates
//   patchwise  w(p, ·) = γ([a(p); b of all neighbours])
//   y(p) = Σ_j w(p, j) v(p+j), eight channels (c mod G) sharing a weight
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "describe/zoo/parts.h"
#include "describe/zoo/zoo.h"

namespace soft::zoo {
namespace {

constexpr int64_t kReduction = 16, kOut = 4, kShare = 8;  // C/16 for a and b, C/4 for v

int pointwise(Builder& net, int map, const std::string& name, int64_t out, bool bias = true) {
  op::Convolution conv{net.shape(map)[0], out};
  conv.bias = bias;
  return net.convolution(map, name, conv);
}

// [C, H, W] -> [C, k², n], the edge reflected.
int neighbours(Builder& net, int map, int64_t kernel) {
  const int64_t channels = net.shape(map)[0], edge = kernel / 2, n = net.grid(map).size();
  const int wide = net.pad(map, {edge, edge, edge, edge, true});
  return net.reshape(net.unfold(wide, {kernel, 1, 0}), {channels, kernel * kernel, n});
}

int cells(Builder& net, int map) {  // [C, 1, n]
  return net.reshape(map, {net.shape(map)[0], 1, net.grid(map).size()});
}

// x and y of every cell, from -1 to 1.
int coordinates(Builder& net, Grid grid) {
  const auto place = [](int64_t i, int64_t side) {
    return side == 1 ? -1.0f : -1 + 2 * static_cast<float>(i) / static_cast<float>(side - 1);
  };
  std::vector<float> values(2 * grid.size());
  for (int64_t y = 0; y < grid.h; ++y) {
    for (int64_t x = 0; x < grid.w; ++x) {
      values[y * grid.w + x] = place(x, grid.w);
      values[grid.size() + y * grid.w + x] = place(y, grid.h);
    }
  }
  return net.constant(values, {2, grid.h, grid.w});
}

// γ: norm, ReLU, 1x1, norm, ReLU, 1x1, over maps of any shape.
int weighing(Builder& net, int z, const std::string& name, int64_t inner, int64_t out) {
  z = net.batch_norm(z, name + "0", Curve::kRelu);
  z = pointwise(net, z, name + "2", inner, false);
  z = net.batch_norm(z, name + "3", Curve::kRelu);
  return pointwise(net, z, name + "5", out);
}

struct Sam {
  int64_t dim, kernel;
  bool pairwise;

  int64_t groups() const { return dim / kOut / kShare; }
};

int pairwise_weights(Builder& net, int a, int b, const std::string& name, const Sam& shape) {
  const int64_t k2 = shape.kernel * shape.kernel, n = net.grid(a).size();
  const auto difference = [&](int here, int there) {
    return net.combine(cells(net, here), neighbours(net, there, shape.kernel), How::kMinus);
  };
  const int place = pointwise(net, coordinates(net, net.grid(a)), name + "conv_p", 2);
  const int z = net.join({difference(a, b), difference(place, place)}, 0);  // [C/16 + 2, k², n]
  const int w = weighing(net, z, name + "conv_w.", shape.dim / kReduction, shape.groups());
  return net.softmax(net.reshape(w, {1, shape.groups(), k2, n}), 2);
}

int patchwise_weights(Builder& net, int a, int b, const std::string& name, const Sam& shape) {
  const int64_t k2 = shape.kernel * shape.kernel;
  const Grid grid = net.grid(a);
  const int around =
      net.reshape(neighbours(net, b, shape.kernel), {shape.dim / kReduction * k2, grid.h, grid.w});
  const int w = weighing(net, net.join({a, around}, 0), name + "conv_w.", shape.groups(),
                         k2 * shape.groups());
  return net.reshape(w, {1, shape.groups(), k2, grid.size()});
}

int sam(Builder& net, int x, const std::string& name, const Sam& shape) {
  const int64_t small = shape.dim / kReduction, out = shape.dim / kOut;
  const int64_t k2 = shape.kernel * shape.kernel, groups = shape.groups();
  const Grid grid = net.grid(x);
  const int a = pointwise(net, x, name + "conv1", small);
  const int b = pointwise(net, x, name + "conv2", small);
  const int v = pointwise(net, x, name + "conv3", out);
  const int w = shape.pairwise ? pairwise_weights(net, a, b, name, shape)
                               : patchwise_weights(net, a, b, name, shape);
  const int values =
      net.reshape(neighbours(net, v, shape.kernel), {out / groups, groups, k2, grid.size()});
  const int weighted = net.combine(values, w, How::kTimes);
  const int sum = net.reduce(weighted, {2, false}, Wide{out} * k2 * grid.size());
  return net.reshape(sum, {out, grid.h, grid.w});
}

int san_block(Builder& net, int x, const std::string& name, const Sam& shape,
              const op::Residual& residual) {
  int y = net.batch_norm(x, name + "bn1", Curve::kRelu);
  y = sam(net, y, name + "sam.", shape);
  y = net.batch_norm(y, name + "bn2", Curve::kRelu);
  return net.residual(x, pointwise(net, y, name + "conv", shape.dim), residual);
}

// A map that is reflected at its edge must be larger than what is reflected.
void check_grids(const ModelSpec& spec, Grid image) {
  int64_t smallest = 1, cell = 1;
  for (const int kernel : spec.list("kernels")) {
    cell *= 2;
    smallest = std::max(smallest, cell * (kernel / 2 + 1));
  }
  if (std::min(image.h, image.w) >= smallest) return;
  fail_usage("{} with kernels={} takes pictures of at least {} pixels a side, not {}x{}; try {}x{}",
             spec.name, fmt::join(spec.list("kernels"), ","), smallest, image.h, image.w,
             std::max(image.h, smallest), std::max(image.w, smallest));
}

}  // namespace

Description describe_san(const ModelSpec& spec, Grid image) {
  check_grids(spec, image);
  Builder net;
  const auto& widths = spec.list("widths");
  const auto& depths = spec.list("depths");
  const auto& kernels = spec.list("kernels");
  Ramp ramp(depths);
  net.at({0, -1});
  net.start_with(Start::kUniform, Start::kUniform);
  const int64_t stem = spec.number("stem");
  int x = unit(net, net.pixels(image), "conv_in", "bn_in", {stem});
  for (int s = 0; s < static_cast<int>(depths.size()); ++s) {
    net.at({s, -1});
    x = pointwise(net, net.window_pool(x, {true, 2, 2, 0}), fmt::format("conv{}", s), widths[s],
                  false);
    for (int i = 0; i < depths[s]; ++i) {
      net.at({s, i});
      const Sam shape{widths[s], kernels[s], spec.number("pairwise") != 0};
      x = san_block(net, x, fmt::format("layer{}.{}.", s, i), shape, ramp.next());
    }
    x = net.batch_norm(x, fmt::format("bn{}", s), Curve::kRelu);
    net.end_stage({net.grid(x), 0, depths[s], x});
  }
  net.at({});
  mean_head(net, x, "fc", spec.classes);
  return net.take();
}

}  // namespace soft::zoo
