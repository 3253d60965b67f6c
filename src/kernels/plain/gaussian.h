// The plain form of kernels/gaussian.h. All arrays are dense.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/gaussian.h"

namespace soft::plain {

// -½|s·a - b|² from norms and product, clamped, as the method prescribes.
template <class T>
T exponent_of(int64_t dim, const T* a, T scale, const T* b) {
  T aa = 0, bb = 0, ab = 0;
  for (int64_t c = 0; c < dim; ++c) {
    const T x = scale * a[c];
    aa += x * x;
    bb += b[c] * b[c];
    ab += x * b[c];
  }
  return -std::max(T(0), aa + bb - 2 * ab) / 2;
}

template <class T>
T gaussian_of(int64_t dim, const T* a, T scale, const T* b) {
  return std::exp(exponent_of(dim, a, scale, b));
}

// q [n, d], l [m, d] -> k [n, m]
template <class T>
void gaussian(const GaussianShape& shape, const T* q, T scale, const T* l, T* k) {
  const int64_t d = shape.dim;
  for (int64_t i = 0; i < shape.rows; ++i) {
    for (int64_t j = 0; j < shape.landmarks; ++j) {
      k[i * shape.landmarks + j] = gaussian_of(d, q + i * d, scale, l + j * d);
    }
  }
}

// l [m, d], mask [m] or null -> a [m, m]
template <class T>
void gaussian_self(int64_t landmarks, int64_t dim, const T* l, const T* mask, T* a) {
  for (int64_t i = 0; i < landmarks; ++i) {
    for (int64_t j = 0; j < landmarks; ++j) {
      const bool dropped = mask != nullptr && (mask[i] == 0 || mask[j] == 0);
      const T value = dropped ? T(0) : gaussian_of(dim, l + i * dim, T(1), l + j * dim);
      a[i * landmarks + j] = i == j ? T(1) : value;
    }
  }
}

}  // namespace soft::plain
