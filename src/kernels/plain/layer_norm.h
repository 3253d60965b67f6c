// The plain form of kernels/layer_norm.h, one dense row at a time.
#pragma once

#include <cmath>

#include "kernels/layer_norm.h"

namespace soft::plain {

template <class T>
struct Moments {
  T mean = 0, rstd = 0;
};

template <class T>
Moments<T> moments_of(int64_t dim, const T* s, T epsilon) {
  T mean = 0, variance = 0;
  for (int64_t c = 0; c < dim; ++c) mean += s[c] / T(dim);
  for (int64_t c = 0; c < dim; ++c) variance += (s[c] - mean) * (s[c] - mean) / T(dim);
  return {mean, 1 / std::sqrt(variance + epsilon)};
}

// s [dim] -> y [dim]
template <class T>
void layer_norm_row(int64_t dim, const T* s, const T* gamma, const T* beta, T epsilon, T* y) {
  const Moments<T> moments = moments_of(dim, s, epsilon);
  for (int64_t c = 0; c < dim; ++c) {
    y[c] = gamma[c] * (s[c] - moments.mean) * moments.rstd + beta[c];
  }
}

// Writes grad_s [dim], adds to grad_gamma and grad_beta [dim].
template <class T>
void layer_norm_row_backward(int64_t dim, const T* s, const T* gamma, T epsilon, const T* grad_y,
                             T* grad_s, T* grad_gamma, T* grad_beta) {
  const Moments<T> moments = moments_of(dim, s, epsilon);
  T mean_g = 0, mean_gx = 0;
  for (int64_t c = 0; c < dim; ++c) {
    const T xhat = (s[c] - moments.mean) * moments.rstd;
    mean_g += grad_y[c] * gamma[c] / T(dim);
    mean_gx += grad_y[c] * gamma[c] * xhat / T(dim);
    grad_gamma[c] += grad_y[c] * xhat;
    grad_beta[c] += grad_y[c];
  }
  for (int64_t c = 0; c < dim; ++c) {
    const T xhat = (s[c] - moments.mean) * moments.rstd;
    grad_s[c] = moments.rstd * (grad_y[c] * gamma[c] - mean_g - xhat * mean_gx);
  }
}

}  // namespace soft::plain
