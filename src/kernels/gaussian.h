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

}  // namespace soft
