// The plain form of kernels/value_path.h. All arrays are dense: v, y [H·W, h·d], kernel [h, kh,
// kw].
#pragma once

#include "kernels/value_path.h"

namespace soft::plain {

// Calls visit(output token, input token, head, kernel index) for every tap inside the grid.
template <class Visit>
void for_each_tap(const ValuePath& path, const Visit& visit) {
  const Grid grid = path.grid, kernel = path.kernel;
  for (int64_t token = 0; token < grid.size(); ++token) {
    for (int64_t head = 0; head < path.heads; ++head) {
      for (int64_t tap = 0; tap < kernel.size(); ++tap) {
        const int64_t row = token / grid.w + tap / kernel.w - kernel.h / 2;
        const int64_t column = token % grid.w + tap % kernel.w - kernel.w / 2;
        if (row < 0 || row >= grid.h || column < 0 || column >= grid.w) continue;
        visit(token, row * grid.w + column, head, head * kernel.size() + tap);
      }
    }
  }
}

template <class T>
void value_path(const ValuePath& path, const T* kernel, const T* v, T* y) {
  const int64_t channels = path.heads * path.dim;
  for_each_tap(path, [&](int64_t out, int64_t in, int64_t head, int64_t tap) {
    for (int64_t c = head * path.dim; c < (head + 1) * path.dim; ++c) {
      y[out * channels + c] += kernel[tap] * v[in * channels + c];
    }
  });
}

// Adds to grad_v and grad_kernel.
template <class T>
void value_path_backward(const ValuePath& path, const T* kernel, const T* v, const T* grad_y,
                         T* grad_v, T* grad_kernel) {
  const int64_t channels = path.heads * path.dim;
  for_each_tap(path, [&](int64_t out, int64_t in, int64_t head, int64_t tap) {
    for (int64_t c = head * path.dim; c < (head + 1) * path.dim; ++c) {
      grad_v[in * channels + c] += kernel[tap] * grad_y[out * channels + c];
      grad_kernel[tap] += v[in * channels + c] * grad_y[out * channels + c];
    }
  });
}

}  // namespace soft::plain
