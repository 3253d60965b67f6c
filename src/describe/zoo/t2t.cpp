// T2T-ViT_t (Yuan et al., 2021): tokens are gathered from overlapping windows twice, through a
// small transformer each time, before an ordinary ViT with fixed sinusoidal positions.
#include <fmt/format.h>

#include <cmath>

#include "describe/zoo/parts.h"
#include "describe/zoo/zoo.h"

namespace soft::zoo {
namespace {

constexpr double kEpsilon = 1e-5;

struct Gathered {
  int tokens;
  Grid grid;
};

Gathered gathered(Builder& net, int map, const op::Unfold& windows) {
  const auto side = [&](int64_t size) {
    return (size + 2 * windows.padding - windows.kernel) / windows.stride + 1;
  };
  const Grid grid{side(net.grid(map).h), side(net.grid(map).w)};
  return {net.permute(net.unfold(map, windows), {1, 0}), grid};
}

// One head, D -> `out`; the skip is V, since x has another width.
int token_transformer(Builder& net, int x, const std::string& name, int64_t out) {
  const double scale = std::pow(static_cast<double>(net.shape(x).back()), -0.5);
  const int normed = net.layer_norm(x, name + "norm1", kEpsilon);
  const std::vector<int> qkv =
      pieces(net, net.linear(normed, name + "attn.qkv", 3 * out, false), 3);
  const int mixed = net.linear(attend(net, qkv, scale), name + "attn.proj", out);
  const int y = net.combine(qkv[2], mixed, How::kPlus);
  const int again = net.layer_norm(y, name + "norm2", kEpsilon);
  return net.combine(y, mlp(net, again, name + "mlp.", out), How::kPlus);
}

}  // namespace

Description describe_t2t(const ModelSpec& spec, Grid image) {
  Builder net;
  const int64_t dim = spec.number("dim"), token_dim = spec.number("token_dim");
  const int depth = spec.number("depth");
  net.at({0, -1});
  auto [x, grid] = gathered(net, net.pixels(image), {7, 4, 2});
  for (int i = 1; i <= 2; ++i) {
    const auto name = fmt::format("tokens_to_token.attention{}.", i);
    x = token_transformer(net, x, name, token_dim);
    const Gathered next = gathered(net, net.unflatten(x, {grid, 0}), {3, 2, 1});
    x = next.tokens;
    grid = next.grid;
  }
  x = net.class_token(net.linear(x, "tokens_to_token.project", dim), "cls_token");
  const int64_t side = (((spec.image_size + 3) / 4 + 1) / 2 + 1) / 2;
  op::Position position{{side, side}, grid, 1, true};
  position.fixed = true;
  x = net.position(x, "pos_embed", position);
  Block shape{spec.number("heads"), spec.number("mlp_ratio") * dim, kEpsilon, false};
  shape.grid = grid;
  shape.prefix = 1;
  Ramp ramp({depth});
  for (int i = 0; i < depth; ++i) {
    net.at({0, i});
    x = block(net, x, fmt::format("blocks.{}.", i), shape, ramp.next());
  }
  net.end_stage({grid, 1, depth, x});
  net.at({});
  net.linear(net.pool(net.layer_norm(x, "norm", kEpsilon), {true}), "head", spec.classes);
  return net.take();
}

}  // namespace soft::zoo
