// The Gaussian kernel of two sets of rows, K[i, j] = exp(-½·max(0, |s·q_i|² + |l_j|² -
// 2·s·q_i·l_j)). Cost: 2·n·m·d flops and n·m exponentials.
#pragma once

#include "kernels/rows.h"

namespace soft {

struct GaussianShape {
  int64_t rows;       // n
  int64_t landmarks;  // m
  int64_t dim;        // d
};

int64_t gaussian_scratch(int64_t landmarks, int64_t dim);  // floats

// q [n, d] is multiplied by `scale` first; l [m, d]; k [n, m] may have any row stride >= m.
void gaussian(const GaussianShape& shape, ConstRows q, float scale, ConstRows l, Rows k,
              float* scratch);

// The kernel of the landmarks with themselves: exactly symmetric, diagonal exactly 1.
// l [m, d] -> a [m, m]. Where mask [m] (may be null) is 0, row and column are those of I.
void gaussian_self(int64_t landmarks, int64_t dim, ConstRows l, const float* mask, float* a,
                   float* scratch);

// ---- For those who visit the same landmarks many times

// The landmarks as the vector code wants them. A dropped landmark, like the padding, is infinitely
// far away from everything: its kernel is 0.
struct PackedLandmarks {
  int64_t landmarks;  // m
  int64_t dim;        // d
  float scale;        // s, already inside `columns`
  float* columns;     // [d, padded(m)] s·Lᵀ
  float* half_norms;  // [padded(m)] ½|l|²
};

int64_t packed_landmarks_size(int64_t landmarks, int64_t dim);  // floats
PackedLandmarks pack_landmarks(int64_t landmarks, int64_t dim, ConstRows l, float scale,
                               const float* mask, float* memory);

// k [rows, padded(m)], padding written as 0; rows where token_mask (may be null) is 0 are 0.
void gaussian_tile(const PackedLandmarks& packed, int64_t rows, ConstRows q,
                   const float* token_mask, float* k);

// The same with every row relative to its largest entry exp(peak): k = exp(exponent - peak), so
// that no row underflows however far away it is. peaks [rows], at most 0; -infinity where the row
// is 0 since its token is masked or every landmark dropped.
void gaussian_peaked(const PackedLandmarks& packed, int64_t rows, ConstRows q,
                     const float* token_mask, float* k, float* peaks);

}  // namespace soft
