// Dropout without a mask in memory: which elements go follows from a seed and their place alone, so
// that the way back drops the same ones again.
//   y = x·keep / (1 - rate),  keep = hash(seed, row, column) >= rate
#pragma once

#include <cstdint>

namespace soft {

struct Dropout {
  float rate = 0;
  uint64_t seed = 0;
};

// Columns [first, first + count) of a row of a matrix of any size; `out` may be `in`.
void drop_row(const Dropout& dropout, int64_t row, int64_t first, int64_t count, const float* in,
              float* out);

}  // namespace soft
