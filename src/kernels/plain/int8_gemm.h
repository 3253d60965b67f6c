// The plain form of kernels/int8_gemm.h: 64-bit integers, one at a time.
#pragma once

#include <algorithm>

#include "kernels/int8_gemm.h"

namespace soft::plain {

// weights [cols, segments, inner]; scales [rows] or null
inline void int8_gemm(const Int8Shape& shape, int64_t rows, const ByteRows& a,
                      const int8_t* weights, const float* scale, const float* bias, bool relu,
                      Rows y, const ByteScale* scales = nullptr) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < shape.cols; ++j) {
      const ByteScale row = scales == nullptr ? ByteScale{} : scales[i];
      int64_t sum = 0;
      for (int64_t s = 0; s < shape.segments; ++s) {
        for (int64_t k = 0; k < shape.inner; ++k) {
          sum += (int64_t{a.row(i)[s * a.segment + k]} - row.zero) *
                 weights[(j * shape.segments + s) * shape.inner + k];
        }
      }
      const float value = static_cast<float>(sum) * (scale[j] * row.scale) + bias[j];
      y.row(i)[j] = relu ? std::max(value, 0.0f) : value;
    }
  }
}

}  // namespace soft::plain
