// Where the weights of int8_gemm.h lie when they are packed.
#pragma once

#include "kernels/int8_gemm.h"

namespace soft {

constexpr int64_t kInt8Step = 4;      // inner indices side by side in the packed weights
constexpr int64_t kInt8Columns = 16;  // of a packed panel

// Every segment of the packed weights is a whole number of the deepest groups, filled up with 0.
constexpr int64_t int8_padded_inner(const Int8Shape& shape) {
  constexpr int64_t kGroup = kInt8Step * kInt8Deepest;
  return (shape.inner + kGroup - 1) / kGroup * kGroup;
}

}  // namespace soft
