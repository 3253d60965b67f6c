// The torch face of kernels/softmax_attention.h: softmax's mixing as one autograd function that
// never builds the n x n matrix. The plain expression stays beside it in softmax.cpp.
#pragma once

#include "attention/attention.h"

namespace soft {

// Weights that are dropped in training, drawn again from the seed in the backward pass.
struct WeightDropout {
  double rate = 0;
  uint64_t seed = 0;
};

bool fused_softmax_applies(const Heads& heads);

// softmax(q k' / sqrt d) v [B, h, n, d]; mask [B, n] or undefined. Saves q, k, v, Y and a number
// per row for its gradient: O(n·d).
torch::Tensor fused_softmax(const Heads& heads, const torch::Tensor& mask,
                            const WeightDropout& dropout = {});

}  // namespace soft
