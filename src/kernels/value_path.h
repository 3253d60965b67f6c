// The value path: a depthwise convolution of V whose channels are the heads. One kernel per head is
// shared by that head's d channels; stride 1, zero padding, no bias. Cost: 2·n·C·kh·kw flops.
#pragma once

#include "base/grid.h"
#include "kernels/rows.h"

namespace soft {

struct ValuePath {
  Grid grid;      // H x W tokens, row-major; a sequence is {n, 1} with kernel {k, 1}
  int64_t heads;  // h
  int64_t dim;    // d: channels of one head
  Grid kernel;    // odd sides
};

// Adds conv(v) to y for output rows [row_begin, row_end) of the grid.
// v, y: [H·W, h·d]; kernel [h, kh, kw].
void value_path(const ValuePath& path, const float* kernel, ConstRows v, Rows y, int64_t row_begin,
                int64_t row_end);

// The transposed convolution: adds to grad_v for grid rows [row_begin, row_end).
void value_path_backward(const ValuePath& path, const float* kernel, ConstRows grad_y, Rows grad_v,
                         int64_t row_begin, int64_t row_end);

// Adds to grad_kernel [h, kh, kw] for heads [head_begin, head_end), over the whole grid.
void value_path_backward_kernel(const ValuePath& path, ConstRows v, ConstRows grad_y,
                                float* grad_kernel, int64_t head_begin, int64_t head_end);

}  // namespace soft
