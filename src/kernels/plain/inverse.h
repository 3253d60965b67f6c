// The plain form of kernels/inverse.h: the recurrences as they are written in the method, and a
// Gauss-Jordan inverse.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/inverse.h"
#include "kernels/plain/gemm.h"

namespace soft::plain {

template <class T>
std::vector<T> square_product(int64_t m, const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> c(m * m);
  gemm<T>({m, m, m}, {a.data(), m}, {b.data(), m}, c.data(), m);
  return c;
}

template <class T>
std::vector<T> plus_identity(int64_t m, std::vector<T> a, T epsilon) {
  for (int64_t i = 0; i < m; ++i) a[i * m + i] += epsilon;
  return a;
}

// The largest sum of absolute values in a row of I·shift - factor·a.
template <class T>
T row_norm(int64_t m, const std::vector<T>& a, T shift = 0, T factor = 1) {
  T largest = 0;
  for (int64_t i = 0; i < m; ++i) {
    T sum = 0;
    for (int64_t j = 0; j < m; ++j) sum += std::abs((i == j ? shift : 0) - factor * a[i * m + j]);
    largest = std::max(largest, sum);
  }
  return largest;
}

template <class T>
T first_factor(Inverse mode, int64_t m, const std::vector<T>& a) {
  const T norm = row_norm(m, a);
  if (mode == Inverse::kNewtonPaper) return 2 / (norm * norm);
  T alpha = T(1.8) / (norm * norm);
  if (mode == Inverse::kNewton) return alpha;
  const std::vector<T> square = square_product(m, a, a);
  for (int i = 0; i < 10 && row_norm(m, square, T(1), alpha) > T(1.01); ++i) alpha /= 2;
  return alpha;
}

template <class T>
std::vector<T> newton_inverse(const InverseOptions& options, int64_t m, const std::vector<T>& a) {
  const bool shifted = options.mode == Inverse::kNewton;
  const std::vector<T> p = plus_identity(m, a, shifted ? T(options.epsilon) : T(0));
  const T alpha = first_factor(options.mode, m, a);
  std::vector<T> v = p;
  for (T& value : v) value *= alpha;
  for (int step = 0; step < options.steps; ++step) {
    const std::vector<T> vpv = square_product(m, v, square_product(m, p, v));
    for (int64_t i = 0; i < m * m; ++i) v[i] = 2 * v[i] - vpv[i];
  }
  return v;
}

// (A + epsilon·I)^-1 by Gauss-Jordan elimination with row exchanges; A + epsilon·I must be regular.
template <class T>
std::vector<T> exact_inverse(int64_t m, const std::vector<T>& a, T epsilon) {
  std::vector<T> left = plus_identity(m, a, epsilon);
  std::vector<T> right = plus_identity(m, std::vector<T>(m * m), T(1));
  const auto swap_rows = [m](std::vector<T>& x, int64_t i, int64_t j) {
    std::swap_ranges(x.begin() + i * m, x.begin() + (i + 1) * m, x.begin() + j * m);
  };
  for (int64_t column = 0; column < m; ++column) {
    int64_t pivot = column;
    for (int64_t i = column; i < m; ++i) {
      if (std::abs(left[i * m + column]) > std::abs(left[pivot * m + column])) pivot = i;
    }
    if (pivot != column) {
      swap_rows(left, pivot, column);
      swap_rows(right, pivot, column);
    }
    const T divisor = left[column * m + column];
    for (int64_t i = 0; i < m; ++i) {
      if (i == column) continue;
      const T factor = left[i * m + column] / divisor;
      for (int64_t j = 0; j < m; ++j) {
        left[i * m + j] -= factor * left[column * m + j];
        right[i * m + j] -= factor * right[column * m + j];
      }
    }
    for (int64_t j = 0; j < m; ++j) {
      left[column * m + j] /= divisor;
      right[column * m + j] /= divisor;
    }
  }
  return right;
}

// |A·V·A - A|_F / |A|_F
template <class T>
T inverse_residual(int64_t m, const std::vector<T>& a, const std::vector<T>& v) {
  const std::vector<T> ava = square_product(m, square_product(m, a, v), a);
  T error = 0, size = 0;
  for (int64_t i = 0; i < m * m; ++i) {
    error += (ava[i] - a[i]) * (ava[i] - a[i]);
    size += a[i] * a[i];
  }
  return std::sqrt(error / size);
}

}  // namespace soft::plain
