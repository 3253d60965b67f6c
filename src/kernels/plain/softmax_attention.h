// The plain form of kernels/softmax_attention.h. All arrays are dense [n, d].
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/plain/gemm.h"
#include "kernels/softmax_attention.h"

namespace soft::plain {

template <class T>
void softmax_attention(int64_t n, int64_t d, T scale, const T* q, const T* k, const T* v, T* y) {
  std::vector<T> score(n * n);
  gemm<T>({n, n, d}, {q, d}, {k, d, true}, score.data(), n);
  for (int64_t i = 0; i < n; ++i) {
    T* row = &score[i * n];
    const T largest = *std::max_element(row, row + n);
    T sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += row[j] = std::exp(scale * (row[j] - largest));
    for (int64_t j = 0; j < n; ++j) row[j] /= sum;
  }
  gemm<T>({n, d, n}, {score.data(), n}, {v, d}, y, d);
}

}  // namespace soft::plain
