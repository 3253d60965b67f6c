// What the forward and the backward pass of softmax_attention.h have in common: tiles of scores.
#pragma once

#include <algorithm>

#include "kernels/softmax_attention.h"

namespace soft {

constexpr int64_t kQueryTile = 64;  // with kKeyTile: a tile of weights is 32 KB
constexpr int64_t kKeyTile = 128;
constexpr int64_t key_tiles(int64_t tokens) { return (tokens + kKeyTile - 1) / kKeyTile; }

// Rows of K or V as the products want them: a tile after another, each [d, kKeyTile], 0 beyond n.
void pack_columns(int64_t tokens, int64_t dim, ConstRows rows, float factor, float* packed);

// What is added to the scores [key_tiles · kKeyTile]: 0 for real keys, -inf for masked ones and
// beyond n.
void key_bias(const SoftmaxHead& head, float* bias);

// One tile: `rows` queries from `first` on, the keys of tile `keys`.
struct ScoreTile {
  int64_t first;
  int64_t rows;
  int64_t keys;
  const float* columns;  // [d, kKeyTile] of this tile
  float* weights;        // [rows, kKeyTile]
};

// Carries the rows' largest scores and sums on: weights = exp(s - M), and factor [rows] is what
// earlier results are multiplied by.
struct Running {
  float* largest;  // [rows]
  float* sum;      // [rows]
  float* factor;   // [rows]
};
void weigh_scores(const SoftmaxHead& head, const ScoreTile& tile, const float* bias,
                  const Running& running);

// weights = exp(s - L), log_sums [n].
void recall_weights(const SoftmaxHead& head, const ScoreTile& tile, const float* bias,
                    const float* log_sums);

// tile.weights = P∘(drop(left·columns) - δ), left [rows, d]; p: [rows, kKeyTile] without dropout.
void score_gradient(const SoftmaxHead& head, const ScoreTile& tile, ConstRows left, const float* p,
                    const float* delta);

// tile.weights = from·keep/(1 - rate), from [rows, kKeyTile], which may be tile.weights; nothing
// where nothing is dropped.
void drop_weights(const SoftmaxHead& head, const ScoreTile& tile, const float* from);

}  // namespace soft
