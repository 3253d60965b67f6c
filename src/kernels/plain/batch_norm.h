// The plain form of kernels/batch_norm.h: one channel at a time, all rows at once.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/batch_norm.h"

namespace soft::plain {

template <class T>
struct Channel {
  T mean = 0, variance = 0;
};

template <class T>
Channel<T> channel_moments(int64_t rows, int64_t channels, const T* x, int64_t j) {
  Channel<T> channel;
  for (int64_t i = 0; i < rows; ++i) channel.mean += x[i * channels + j] / T(rows);
  for (int64_t i = 0; i < rows; ++i) {
    const T centred = x[i * channels + j] - channel.mean;
    channel.variance += centred * centred / T(rows);
  }
  return channel;
}

// x, y [rows, C]; gamma, beta [C].
template <class T>
void batch_norm_relu(int64_t rows, int64_t channels, const T* x, const T* gamma, const T* beta,
                     T epsilon, T* y) {
  for (int64_t j = 0; j < channels; ++j) {
    const Channel<T> channel = channel_moments(rows, channels, x, j);
    for (int64_t i = 0; i < rows; ++i) {
      const T xhat = (x[i * channels + j] - channel.mean) / std::sqrt(channel.variance + epsilon);
      y[i * channels + j] = std::max(T(0), gamma[j] * xhat + beta[j]);
    }
  }
}

}  // namespace soft::plain
