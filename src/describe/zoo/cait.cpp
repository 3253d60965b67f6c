// CaiT (Touvron et al., 2021): talking heads (linear maps across heads before and after the
// softmax) and layer scale on the picture's tokens, then two blocks in which a class token alone
// asks.
#include <fmt/format.h>

#include <cmath>

#include "describe/zoo/parts.h"
#include "describe/zoo/zoo.h"

namespace soft::zoo {
namespace {

constexpr double kEpsilon = 1e-6;
constexpr float kFirstScale = 1e-6f;  // of a branch, before training

struct Shape {
  int64_t dim, heads, hidden;
  double scale() const { return std::pow(static_cast<double>(dim / heads), -0.5); }
};

int scaled(Builder& net, int x, const std::string& name) {
  const int gamma = net.stored(name, {net.shape(x).back()}, {}, Start::kTiny);
  return net.combine(x, gamma, How::kTimes);
}

int across_heads(Builder& net, int scores, const std::string& name) {  // [h, n, n]
  const int last = net.permute(scores, {1, 2, 0});
  return net.permute(net.linear(last, name, net.shape(last).back()), {2, 0, 1});
}

int talking_heads(Builder& net, int x, const std::string& name, const Shape& shape) {
  std::vector<int> qkv = pieces(net, net.linear(x, name + "qkv", 3 * shape.dim), 3);
  for (int& part : qkv) part = split_heads(net, part, shape.heads);
  int scores = net.product(qkv[0], qkv[1], {true, shape.scale()});
  scores = net.softmax(across_heads(net, scores, name + "proj_l"), -1);
  scores = across_heads(net, scores, name + "proj_w");
  const int mixed = net.product(scores, qkv[2], {});
  return net.linear(merge_heads(net, mixed), name + "proj", shape.dim);
}

int class_attention(Builder& net, int x, const std::string& name, const Shape& shape) {
  const auto heads = [&](const char* which, int source) {
    return split_heads(net, net.linear(source, name + which, shape.dim), shape.heads);
  };
  const int first = net.slice(x, {0, 0, 1});
  const int mixed = attend(net, {heads("q", first), heads("k", x), heads("v", x)}, shape.scale());
  return net.linear(merge_heads(net, mixed), name + "proj", shape.dim);
}

// x += γ1 attention; x += γ2 mlp. `seen` is what the attention reads beside x, or nothing.
template <class Attention>
int scaled_block(Builder& net, int x, int seen, const std::string& name, const Shape& shape,
                 const Attention& attention) {
  const op::Residual residual{1, true};  // the same drop rate in every block
  const int read = seen == kNoPart ? x : net.join({x, seen}, 0);
  const int looked =
      attention(net, net.layer_norm(read, name + "norm1", kEpsilon), name + "attn.", shape);
  x = net.residual(x, scaled(net, looked, name + "gamma_1"), residual);
  const int changed =
      mlp(net, net.layer_norm(x, name + "norm2", kEpsilon), name + "mlp.", shape.hidden);
  return net.residual(x, scaled(net, changed, name + "gamma_2"), residual);
}

}  // namespace

Description describe_cait(const ModelSpec& spec, Grid image) {
  Builder net;
  const int64_t patch = spec.number("patch"), dim = spec.number("dim");
  const Shape shape{dim, spec.number("heads"), spec.number("mlp_ratio") * dim};
  const auto& trained = spec.list("trained");
  net.at({0, -1});
  auto [x, grid] = patches(net, net.pixels(image), "patch_embed.proj", dim, patch);
  x = net.position(x, "pos_embed", {{trained[0] / patch, trained[1] / patch}, grid, 0, true});
  const int depth = spec.number("depth"), token_depth = spec.number("class_depth");
  for (int i = 0; i < depth; ++i) {
    net.at({0, i});
    x = scaled_block(net, x, kNoPart, fmt::format("blocks.{}.", i), shape, talking_heads);
  }
  net.end_stage({grid, 0, depth, x});
  net.at({});
  int token = net.slice(net.class_token(x, "cls_token"), {0, 0, 1});
  for (int i = 0; i < token_depth; ++i) {
    token = scaled_block(net, token, x, fmt::format("blocks_token_only.{}.", i), shape,
                         class_attention);
  }
  token = net.layer_norm(token, "norm", kEpsilon);
  net.linear(net.pool(token, {true}), "head", spec.classes);
  return net.take();
}

}  // namespace soft::zoo
