// LambdaNetworks (Bello, 2021): ResNet's bottlenecks with a lambda layer in place of each 3x3
// convolution. For h heads, intra-depth u and scope r, over the n cells of a map:
//   Q = BN(Wq x) [h, k, n]   K = softmax_n(Wk x) [u, k, n]   V = BN(Wv x) [u, v, n]
//   Y[h, v] = Σ_k Q[h, k] (Σ_u K[u, k] · V[u, v]  +  Σ_u conv_r×r(V[u, v], P[k, u]))
#include "describe/zoo/residual.h"
#include "describe/zoo/zoo.h"

namespace soft::zoo {
namespace {

struct Lambda {
  int64_t keys = 16, heads = 4, depth = 4, scope = 7;
};

// Both halves of Y need Q against [k, v] matrices; the second has one for each cell.
int lambda_layer(Builder& net, int x, const std::string& name, const Lambda& shape) {
  const auto [k, h, u, r] = shape;
  const int64_t channels = net.shape(x)[0], v = channels / h;
  const Grid grid = net.grid(x);
  const int64_t n = grid.size();
  op::Convolution keys{channels, u * k};
  keys.bias = false;
  const int q = net.reshape(
      unit(net, x, name + "to_q", name + "norm_q", {h * k, 1, 1, 1, Curve::kNone}), {h, k, n});
  const int key = net.softmax(net.reshape(net.convolution(x, name + "to_k", keys), {u, k, n}), -1);
  const int value = unit(net, x, name + "to_v", name + "norm_v", {u * v, 1, 1, 1, Curve::kNone});
  const int values = net.reshape(value, {u, v, n});
  const int each = net.product(key, values, {true});                           // [u, k, v]
  const int content = net.reduce(each, {0, false});                            // λc [1, k, v]
  const int by_content = net.product(net.permute(content, {0, 2, 1}), q, {});  // [h, v, n]
  // Every channel v of V is a map of its own under one kernel: groups that share their weights.
  const int turned = net.reshape(net.permute(values, {1, 0, 2}), {v * u, grid.h, grid.w});
  op::Convolution local{v * u, v * k, r, 1, r / 2, v};
  local.shared = true;
  const int lambdas = net.reshape(net.convolution(turned, name + "pos_conv", local), {1, v, k, n});
  const int weighted = net.combine(lambdas, net.reshape(q, {h, 1, k, n}), How::kTimes);
  const int by_place = net.reduce(weighted, {2, false}, Wide{h} * v * k * n);  // [h, v, 1, n]
  const int both = net.combine(by_content, net.reshape(by_place, {h, v, n}), How::kPlus);
  return net.reshape(both, {channels, grid.h, grid.w});
}

}  // namespace

Description describe_lambda(const ModelSpec& spec, Grid image) {
  Builder net;
  const Lambda shape{spec.number("keys"), spec.number("heads"), spec.number("intra_depth"),
                     spec.number("scope")};
  const int stem = residual_stem(net, image, spec.number("stem"), Curve::kRelu);
  const int x = residual_stages(
      net, stem, spec, kExpansion,
      [&](Builder& b, int map, const std::string& name, int64_t planes, int64_t stride) {
        map = unit(b, map, name + "conv1", name + "bn1", {planes});
        map = lambda_layer(b, map, name + "conv2.0.", shape);
        if (stride > 1) map = b.window_pool(map, {false, 3, stride, 1});
        map = b.batch_norm(map, name + "bn2", Curve::kRelu);
        return unit(b, map, name + "conv3", name + "bn3",
                    {kExpansion * planes, 1, 1, 1, Curve::kNone});
      });
  mean_head(net, x, "fc", spec.classes);
  return net.take();
}

}  // namespace soft::zoo
