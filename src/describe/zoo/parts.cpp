#include "describe/zoo/parts.h"

#include <cmath>
#include <numeric>

namespace soft::zoo {

Ramp::Ramp(const std::vector<int>& depths)
    : all_(std::accumulate(depths.begin(), depths.end(), 0)) {}

op::Residual Ramp::next() {
  const double depth = all_ > 1 ? static_cast<double>(done_) / (all_ - 1) : 0;
  ++done_;
  return {depth, true};
}

int unit(Builder& net, int map, const std::string& conv, const std::string& norm,
         const Unit& unit) {
  op::Convolution convolution{net.shape(map)[0], unit.out, unit.kernel, unit.stride,
                              unit.kernel / 2};
  convolution.groups = unit.groups;
  convolution.bias = false;
  convolution.batch_norm = true;
  convolution.after = unit.after;
  return net.convolution(map, conv, convolution, norm);
}

int squeeze_excite(Builder& net, int map, const std::string& name, int64_t hidden, Curve curve) {
  const int64_t channels = net.shape(map)[0];
  op::Convolution down{channels, hidden}, up{hidden, channels};
  down.after = curve;
  up.after = Curve::kSigmoid;
  const int mean = net.global_mean(map);
  const int gate = net.convolution(net.convolution(mean, name + "fc1", down), name + "fc2", up);
  return net.combine(map, gate, How::kTimes);
}

int depthwise(Builder& net, int map, const std::string& name, int64_t kernel) {
  const int64_t channels = net.shape(map)[0];
  return net.convolution(map, name, {channels, channels, kernel, 1, kernel / 2, channels});
}

int mean_head(Builder& net, int map, const std::string& name, int64_t classes) {
  const int vector = net.reshape(net.global_mean(map), {net.shape(map)[0]});
  return net.linear(vector, name, classes);
}

Patches patches(Builder& net, int map, const std::string& name, int64_t dim, int64_t side) {
  const int embedded = net.convolution(map, name, {net.shape(map)[0], dim, side, side});
  return {net.flatten(embedded), net.grid(embedded)};
}

int position_encoding(Builder& net, int tokens, Grid grid, int64_t prefix,
                      const std::string& name) {
  return on_map(net, tokens, grid, prefix, [&](int map) {
    return net.combine(map, depthwise(net, map, name, 3), How::kPlus);
  });
}

std::vector<int> pieces(Builder& net, int x, int64_t count) {
  const auto axis = static_cast<int64_t>(net.shape(x).size()) - 1;
  const int64_t length = net.shape(x).back() / count;
  std::vector<int> parts;
  for (int64_t i = 0; i < count; ++i) parts.push_back(net.slice(x, {axis, i * length, length}));
  return parts;
}

namespace {

// The identity permutation with the axes before the last swapped: [.., a, b, d] <-> [.., b, a, d].
std::vector<int64_t> swapped_before_last(size_t axes) {
  std::vector<int64_t> order(axes);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[axes - 2], order[axes - 3]);
  return order;
}

}  // namespace

int split_heads(Builder& net, int x, int64_t heads) {
  std::vector<int64_t> shape = net.shape(x);
  const int64_t dim = shape.back();
  shape.back() = heads;
  shape.push_back(dim / heads);
  return net.permute(net.reshape(x, shape), swapped_before_last(shape.size()));
}

int merge_heads(Builder& net, int x) {
  const int turned = net.permute(x, swapped_before_last(net.shape(x).size()));  // [.., n, h, d]
  std::vector<int64_t> shape = net.shape(turned);
  const int64_t dim = shape.back();
  shape.pop_back();
  shape.back() *= dim;
  return net.reshape(turned, shape);
}

int attend(Builder& net, const std::vector<int>& qkv, double scale, int bias) {
  int scores = net.product(qkv[0], qkv[1], {true, scale});
  if (bias != kNoPart) scores = net.combine(scores, bias, How::kPlus);
  return net.product(net.softmax(scores, -1), qkv[2], {});
}

int mlp(Builder& net, int x, const std::string& name, int64_t hidden) {
  const int64_t dim = net.shape(x).back();
  const int wide = net.activate(net.linear(x, name + "fc1", hidden), Curve::kErfGelu);
  return net.linear(wide, name + "fc2", dim);
}

int reduced_attention(Builder& net, int x, const std::string& name, const ReducedAttention& shape) {
  const int64_t dim = net.shape(x).back(), r = shape.reduction;
  const int query = net.linear(x, name + "q", dim);
  int source = x;
  if (r > 1) {
    const int map = net.unflatten(x, {shape.grid, shape.prefix});
    source = patches(net, map, name + "sr", dim, r).tokens;
    source = net.layer_norm(source, name + "norm", 1e-5);
  }
  const std::vector<int> key_value = pieces(net, net.linear(source, name + "kv", 2 * dim), 2);
  const double scale = std::pow(static_cast<double>(dim / shape.heads), -0.5);
  const auto heads = [&](int part) { return split_heads(net, part, shape.heads); };
  const int mixed = attend(net, {heads(query), heads(key_value[0]), heads(key_value[1])}, scale);
  return net.linear(merge_heads(net, mixed), name + "proj", dim);
}

int block(Builder& net, int x, const std::string& name, const Block& shape,
          const op::Residual& residual) {
  return block_around(net, x, name, shape, residual, [&](int normed) {
    const int64_t dim = net.shape(x).back();
    std::vector<int> qkv =
        pieces(net, net.linear(normed, name + "attn.qkv", 3 * dim, shape.qkv_bias), 3);
    AttentionSpec spec;
    spec.mechanism = Mechanism::kSoftmax;
    spec.dim = static_cast<int>(dim);
    spec.heads = static_cast<int>(shape.heads);
    spec.names = LayerForm::kPre;
    if (shape.scale != 0) {  // a mix scales by d^-1/2
      const double factor = shape.scale * std::sqrt(static_cast<double>(spec.head_dim()));
      qkv[0] = net.combine(qkv[0], net.constant({static_cast<float>(factor)}, {1}), How::kTimes);
    }
    const int mixed = net.mix(qkv, name + "attn.mix", {spec, shape.grid, shape.prefix});
    return net.linear(mixed, name + "attn.proj", dim);
  });
}

int cut(Builder& net, int tokens, const Windows& windows) {
  const int64_t m = windows.side, dim = net.shape(tokens).back();
  const int64_t rows = windows.grid.h / m, columns = windows.grid.w / m;
  const int tiles = net.reshape(tokens, {rows, m, columns, m, dim});
  return net.reshape(net.permute(tiles, {0, 2, 1, 3, 4}), {rows * columns, m * m, dim});
}

int joined(Builder& net, int cut, const Windows& windows) {
  const int64_t m = windows.side, dim = net.shape(cut).back();
  const int64_t rows = windows.grid.h / m, columns = windows.grid.w / m;
  const int tiles = net.reshape(cut, {rows, columns, m, m, dim});
  return net.reshape(net.permute(tiles, {0, 2, 1, 3, 4}), {windows.grid.size(), dim});
}

}  // namespace soft::zoo
