// One transformer layer: attention and MLP, each with a residual.
//   post (SOFT)  y = LN(x + Attn(x));  z = LN(y + W2 gelu_tanh(W1 y))
//   pre  (ViT)   y = x + Attn(LN(x));  z = y + W2 gelu_erf(W1 LN(y))
// Layers of sequences are pre, with dropout D: x + D(Attn(LN(x))), y + D(W2 D(gelu_erf(W1 LN(y)))).
#pragma once

#include <string>

#include "describe/builder.h"

namespace soft {

struct LayerShape {
  AttentionSpec attention;  // its `sequence` and `names` choose the form
  int64_t hidden = 0;       // channels between the MLP's two linear layers
  Grid grid;
  int64_t prefix = 0;
  double depth = 0;    // op::Residual's
  double dropout = 0;  // of elements and of attention weights
};

// Tokens in, tokens out; `prefix` is "block1.0." and the like.
int add_layer(Builder& net, int x, const LayerShape& shape, const std::string& prefix);

}  // namespace soft
