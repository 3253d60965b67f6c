// What the families share: convolution units, transformer blocks, windows, heads.
#pragma once

#include <string>
#include <vector>

#include "describe/builder.h"

namespace soft::zoo {

// Counts layers over a whole network: drop rates grow from 0 in the first to 1 in the last.
class Ramp {
 public:
  explicit Ramp(const std::vector<int>& depths);
  op::Residual next();

 private:
  int done_ = 0, all_ = 0;
};

// ---- Convolutions

struct Unit {  // convolution without bias, batch norm, curve
  int64_t out = 0;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t groups = 1;
  Curve after = Curve::kRelu;
};
// Padding kernel / 2.
int unit(Builder& net, int map, const std::string& conv, const std::string& norm, const Unit& unit);

// x · sigmoid(fc2(curve(fc1(mean x)))), 1x1 convolutions with bias.
int squeeze_excite(Builder& net, int map, const std::string& name, int64_t hidden, Curve curve);

// A depthwise convolution with bias; padding kernel / 2.
int depthwise(Builder& net, int map, const std::string& name, int64_t kernel);

// map [C, H, W] -> [C]: the mean, then the classifier.
int mean_head(Builder& net, int map, const std::string& name, int64_t classes);

// ---- Tokens

// Disjoint patches: a convolution with kernel = stride and bias; the map's tokens.
struct Patches {
  int tokens = 0;
  Grid grid;
};
Patches patches(Builder& net, int map, const std::string& name, int64_t dim, int64_t side);

// A function of maps on the picture's tokens; class tokens in front stay as they are.
template <class Change>
int on_map(Builder& net, int tokens, Grid grid, int64_t prefix, const Change& change) {
  const int map = change(net.unflatten(tokens, {grid, prefix}));
  const int changed = net.flatten(map);
  if (prefix == 0) return changed;
  return net.join({net.slice(tokens, {0, 0, prefix}), changed}, 0);
}

// map += depthwise 3x3 convolution of itself; class tokens skip it.
int position_encoding(Builder& net, int tokens, Grid grid, int64_t prefix, const std::string& name);

// ---- Attention

// Equal pieces of the last axis.
std::vector<int> pieces(Builder& net, int x, int64_t count);

int split_heads(Builder& net, int x, int64_t heads);  // [.., n, C] -> [.., h, n, d]
int merge_heads(Builder& net, int x);                 // back

// softmax(q k' scale + bias) v of [.., n, d], [.., m, d]; bias: a part, or kNoPart.
constexpr int kNoPart = -1;
int attend(Builder& net, const std::vector<int>& query_key_value, double scale, int bias = kNoPart);

// fc2(gelu(fc1(x)))
int mlp(Builder& net, int x, const std::string& name, int64_t hidden);

// Queries of all tokens; keys and values of a map shrunk by a convolution with kernel = stride =
// `reduction` (PVT). Tensors q, kv, proj, and sr and norm where there is something to shrink.
struct ReducedAttention {
  Grid grid{};
  int64_t prefix = 0;
  int64_t heads = 1;
  int64_t reduction = 1;
};
int reduced_attention(Builder& net, int x, const std::string& name, const ReducedAttention& shape);

// x += attention(norm1 x); x += mlp(norm2 x)
struct Block {
  int64_t heads = 1;
  int64_t hidden = 0;
  double epsilon = 1e-6;
  bool qkv_bias = true;
  double scale = 0;  // of the scores; 0: d^-1/2
  Grid grid{};
  int64_t prefix = 0;
};
// The ordinary one: a fused qkv.
int block(Builder& net, int x, const std::string& name, const Block& shape,
          const op::Residual& residual);
// The same with any attention in it.
template <class Attention>
int block_around(Builder& net, int x, const std::string& name, const Block& shape,
                 const op::Residual& residual, const Attention& attention) {
  const int normed = net.layer_norm(x, name + "norm1", shape.epsilon);
  x = net.residual(x, attention(normed), residual);
  const int again = net.layer_norm(x, name + "norm2", shape.epsilon);
  return net.residual(x, mlp(net, again, name + "mlp.", shape.hidden), residual);
}

// ---- Windows

// [H·W, C] -> [windows, side·side, C] and back.
struct Windows {
  Grid grid;
  int64_t side = 1;

  int64_t count() const { return grid.h / side * (grid.w / side); }
};
int cut(Builder& net, int tokens, const Windows& windows);
int joined(Builder& net, int cut, const Windows& windows);

}  // namespace soft::zoo
