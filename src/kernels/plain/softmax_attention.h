// The plain form of kernels/softmax_attention.h. All arrays are dense [n, d].
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/plain/gemm.h"
#include "kernels/softmax_attention.h"

namespace soft::plain {

// softmax(scale·Q·Kᵀ) [n, n]; mask [n] of the keys, or empty.
template <class T>
std::vector<T> softmax_weights(int64_t n, int64_t d, T scale, const T* q, const T* k,
                               const std::vector<T>& mask = {}) {
  std::vector<T> score(n * n);
  gemm<T>({n, n, d}, {q, d}, {k, d, true}, score.data(), n);
  for (int64_t i = 0; i < n; ++i) {
    T* row = &score[i * n];
    const T largest = *std::max_element(row, row + n);
    T sum = 0;
    for (int64_t j = 0; j < n; ++j) {
      const T real = mask.empty() ? 1 : mask[j];
      sum += row[j] = real * std::exp(scale * (row[j] - largest));
    }
    for (int64_t j = 0; j < n; ++j) row[j] /= sum;
  }
  return score;
}

template <class T>
void softmax_attention(int64_t n, int64_t d, T scale, const T* q, const T* k, const T* v, T* y,
                       const std::vector<T>& mask = {}) {
  const std::vector<T> weights = softmax_weights(n, d, scale, q, k, mask);
  gemm<T>({n, d, n}, {weights.data(), n}, {v, d}, y, d);
}

template <class T>
struct SoftmaxGradients {
  std::vector<T> q, k, v;  // [n, d]
};

template <class T>
SoftmaxGradients<T> softmax_attention_backward(int64_t n, int64_t d, T scale, const T* q,
                                               const T* k, const T* v, const T* grad_y,
                                               const std::vector<T>& mask = {}) {
  const std::vector<T> p = softmax_weights(n, d, scale, q, k, mask);
  SoftmaxGradients<T> grad{std::vector<T>(n * d), std::vector<T>(n * d), std::vector<T>(n * d)};
  std::vector<T> score(n * n);  // dP, then dS
  gemm<T>({n, d, n}, {p.data(), n, true}, {grad_y, d}, grad.v.data(), d);
  gemm<T>({n, n, d}, {grad_y, d}, {v, d, true}, score.data(), n);
  for (int64_t i = 0; i < n; ++i) {
    T delta = 0;
    for (int64_t j = 0; j < n; ++j) delta += p[i * n + j] * score[i * n + j];
    for (int64_t j = 0; j < n; ++j) score[i * n + j] = p[i * n + j] * (score[i * n + j] - delta);
  }
  gemm<T>({n, d, n, static_cast<float>(scale)}, {score.data(), n}, {k, d}, grad.q.data(), d);
  gemm<T>({n, d, n, static_cast<float>(scale)}, {score.data(), n, true}, {q, d}, grad.k.data(), d);
  return grad;
}

}  // namespace soft::plain
