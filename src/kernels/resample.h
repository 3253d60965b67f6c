// The two passes of a resize over 8-bit RGB, in fixed point:
//   out[i] = clamp((2^21 + sum_t weights[i][t] * in[first[i] + t]) >> 22)
// The sums are exact integers, so every instruction set gives the same bytes.
// Cost: outputs * taps multiplications a pass.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace soft {

constexpr int kWeightBits = 22;

// One output, from inputs that lie `stride` bytes apart.
inline uint8_t resample_one(const uint8_t* in, size_t stride, const int32_t* weights, int taps) {
  int32_t sum = 1 << (kWeightBits - 1);
  for (int t = 0; t < taps; ++t) sum += weights[t] * in[t * stride];
  return static_cast<uint8_t>(std::clamp(sum >> kWeightBits, 0, 255));
}

// Which inputs an output is made of. Every window lies inside the input.
struct ResampleWindows {
  int count = 0;                     // outputs
  int taps = 0;                      // inputs in a window
  const int32_t* first = nullptr;    // [count], never decreasing
  const int32_t* weights = nullptr;  // [count, taps], scaled by 2^22
};

// Along x: in [rows, width, 3] -> out [rows, count, 3].
void resample_rows(const uint8_t* in, int rows, int width, const ResampleWindows& windows,
                   uint8_t* out);
void resample_rows_plain(const uint8_t* in, int rows, int width, const ResampleWindows& windows,
                         uint8_t* out);

// Along y: in [rows, row_bytes] -> out [count, row_bytes].
void resample_columns(const uint8_t* in, size_t row_bytes, const ResampleWindows& windows,
                      uint8_t* out);
void resample_columns_plain(const uint8_t* in, size_t row_bytes, const ResampleWindows& windows,
                            uint8_t* out);

}  // namespace soft
