// The plain form of kernels/convolution.h: one output value at a time.
#pragma once

#include "kernels/convolution.h"

namespace soft::plain {

// Calls body(output pixel, input pixel, kernel cell) for every product of the convolution.
template <class Body>
void for_each_tap(const Convolution& conv, const Body& body) {
  const Grid out = conv.out();
  for (int64_t oy = 0; oy < out.h; ++oy) {
    for (int64_t ox = 0; ox < out.w; ++ox) {
      for (int64_t cell = 0; cell < conv.kernel * conv.kernel; ++cell) {
        const int64_t y = oy * conv.stride + cell / conv.kernel - conv.padding;
        const int64_t x = ox * conv.stride + cell % conv.kernel - conv.padding;
        if (y < 0 || y >= conv.in.h || x < 0 || x >= conv.in.w) continue;
        body(oy * out.w + ox, y * conv.in.w + x, cell);
      }
    }
  }
}

// Shapes as in kernels/convolution.h; y starts as the bias.
template <class T>
void convolution(const Convolution& conv, const T* weight, const T* bias, const T* x, T* y) {
  const int64_t in = conv.in_channels, out = conv.out_channels;
  for (int64_t i = 0; i < conv.out().size() * out; ++i) y[i] = bias[i % out];
  for_each_tap(conv, [&](int64_t to, int64_t from, int64_t cell) {
    for (int64_t o = 0; o < out; ++o) {
      for (int64_t c = 0; c < in; ++c) {
        y[to * out + o] += weight[o * conv.patch() + cell * in + c] * x[from * in + c];
      }
    }
  });
}

// Adds to grad_x and grad_weight.
template <class T>
void convolution_backward(const Convolution& conv, const T* weight, const T* x, const T* grad_y,
                          T* grad_x, T* grad_weight) {
  const int64_t in = conv.in_channels, out = conv.out_channels;
  for_each_tap(conv, [&](int64_t to, int64_t from, int64_t cell) {
    for (int64_t o = 0; o < out; ++o) {
      for (int64_t c = 0; c < in; ++c) {
        const int64_t at = o * conv.patch() + cell * in + c;
        grad_x[from * in + c] += weight[at] * grad_y[to * out + o];
        grad_weight[at] += x[from * in + c] * grad_y[to * out + o];
      }
    }
  });
}

}  // namespace soft::plain
