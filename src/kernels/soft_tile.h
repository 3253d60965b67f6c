// What the forward and the backward pass of soft_attention.h have in common.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/soft_attention.h"

namespace soft {

constexpr int64_t kTokenTile = 64;  // tokens whose K stays in the first-level cache

// Calls visit(first token, tokens) for the tiles of [begin, end).
template <class Visit>
void for_each_tile(int64_t begin, int64_t end, const Visit& visit) {
  for (int64_t token = begin; token < end; token += kTokenTile) {
    visit(token, std::min(kTokenTile, end - token));
  }
}

// K of a tile: k [rows, padded(m)]; with peaks [rows] it is K̂, and they are p_i.
inline void cross_tile(const SoftHead& head, const PackedLandmarks& packed, int64_t token,
                       int64_t rows, float* k, float* peaks = nullptr) {
  const float* mask = head.token_mask == nullptr ? nullptr : head.token_mask + token;
  const ConstRows q{head.q.row(token), head.q.stride};
  if (peaks != nullptr) return gaussian_peaked(packed, rows, q, mask, k, peaks);
  gaussian_tile(packed, rows, q, mask, k);
}

// exp(peak - highest) of what is no higher; 1 where both are without any token.
inline float below_peak(float peak, float highest) {
  return peak == highest ? 1 : std::exp(peak - highest);
}

inline bool keeps_cross(const SoftHead& head) {
  return head.tokens * padded(head.landmarks) <= kKeptCross;
}

// e [m], ones in the forms that have none; N = e∘X∘eᵀ in all cases. a, x, core: [m, m].
void degree_factors(const SoftHead& head, Normalise normalise, const float* a, float* e);
void scale_by_degree(int64_t m, const float* e, const float* x, float* core);

// B = K∘dK of a tile, 0 where a token lies on a landmark, with dK = left·right formed on the fly.
struct WeighTile {
  int64_t rows;
  int64_t landmarks;  // m
  int64_t inner;
  const float* left;                // [rows, inner]
  const float* right;               // [inner, padded(m)]
  const float* k;                   // [rows, padded(m)]
  float* b;                         // [rows, padded(m)]
  float* row_sums;                  // [rows] of B, written
  float* column_sums;               // [padded(m)] of B, added to
  const float* touching = nullptr;  // [rows] K where a token lies on a landmark; null: 1
};
void weigh_tile(const WeighTile& tile);

// Sums of the rows of K of a tile: dots [rows] = K·u, reach [rows] = K·1. u: [padded(m)], 0 in the
// padding; k: [rows, padded(m)].
struct RowSums {
  float* dots;
  float* reach;
};
void sum_rows(int64_t rows, int64_t landmarks, const float* k, const float* u, const RowSums& sums);

// dots [rows] of the rows of a and b [rows, dim].
void dot_rows(int64_t rows, int64_t dim, ConstRows a, ConstRows b, float* dots);

// sums [padded(m)] += Kᵀ·weights; weights [rows], or null for ones.
void add_columns(int64_t rows, int64_t landmarks, const float* k, const float* weights,
                 float* sums);

}  // namespace soft
