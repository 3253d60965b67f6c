// A k x k convolution of maps [H, W, C] for training: matrix products over patches that are
// gathered a few rows at a time, so that they stay in the second-level cache. One image, on the
// calling thread.
#pragma once

#include <cstdint>

#include "base/grid.h"

namespace soft {

struct Convolution {
  Grid in;
  int64_t in_channels;
  int64_t out_channels;
  int64_t kernel;
  int64_t stride;
  int64_t padding;

  Grid out() const {
    const auto side = [&](int64_t size) { return (size + 2 * padding - kernel) / stride + 1; };
    return {side(in.h), side(in.w)};
  }
  int64_t patch() const { return kernel * kernel * in_channels; }  // floats under one output pixel
};

int64_t convolution_scratch(const Convolution& conv);  // floats that both calls below want

// y [H', W', out] = conv(x) + bias; x [H, W, in], weight [out, k, k, in].
void convolution(const Convolution& conv, const float* weight, const float* bias, const float* x,
                 float* y, float* scratch);

// Adds to grad_weight [out, k, k, in]; writes grad_x [H, W, in] unless that is null.
void convolution_backward(const Convolution& conv, const float* weight, const float* x,
                          const float* grad_y, float* grad_x, float* grad_weight, float* scratch);

}  // namespace soft
