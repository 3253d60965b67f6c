// Floats as bytes: value = scale·(byte - zero). Rounds to nearest; what lies outside becomes 0 or
// 255. Of a range that is known beforehand, or of each row's own values.
#pragma once

#include <cstdint>

#include "kernels/gelu.h"
#include "kernels/rows.h"

namespace soft {

struct ByteScale {
  float scale = 1;
  int32_t zero = 0;  // the byte that stands for 0

  float lowest() const { return scale * static_cast<float>(-zero); }
  float highest() const { return scale * static_cast<float>(255 - zero); }
};

// The bytes 0 to 255 over [lowest, highest], which holds 0: that is a byte itself. Scale 1 where
// there is nothing but 0.
ByteScale byte_scale(float lowest, float highest);

// x [rows, cols] -> bytes [rows, cols], rows of bytes `stride` apart.
void quantize(ByteScale scale, int64_t rows, int64_t cols, ConstRows x, uint8_t* bytes,
              int64_t stride);

// The same of gelu(x + bias).
void quantize_gelu(ByteScale scale, const Gelu& shape, ConstRows x, uint8_t* bytes, int64_t stride);

// Each row of x - mean over its own values and 0; scales[i] is what row i took. mean [cols], or
// null.
void quantize_rows(int64_t rows, int64_t cols, ConstRows x, const float* mean, uint8_t* bytes,
                   int64_t stride, ByteScale* scales);

}  // namespace soft
