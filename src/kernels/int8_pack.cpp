#include <algorithm>
#include <cstring>

#include "kernels/int8_layout.h"

namespace soft {

std::vector<Int8Sum> int8_sums(int64_t inner, int depth) {
  std::vector<Int8Sum> sums;
  for (int64_t group = 0; group < inner; group += depth * kInt8Step) {
    for (int64_t lane = group; lane < group + kInt8Step; lane += 2) {
      Int8Sum sum;
      for (int64_t k = lane; k < group + depth * kInt8Step; k += kInt8Step) {
        for (int64_t i = k; i < std::min(k + 2, inner); ++i) sum.index[sum.count++] = i;
      }
      if (sum.count > 0) sums.push_back(sum);
    }
  }
  return sums;
}

bool int8_fits(const Int8Sum& sum, const int8_t* line) {
  int64_t above = 0, below = 0;
  for (int i = 0; i < sum.count; ++i) {
    const int64_t weight = line[sum.index[i]];
    (weight > 0 ? above : below) += weight;
  }
  return above <= kInt8Limit && -below <= kInt8Limit;
}

int int8_depth(const Int8Shape& shape, const int8_t* weights) {
  for (int depth = kInt8Deepest; depth > 0; depth /= 2) {
    const std::vector<Int8Sum> sums = int8_sums(shape.inner, depth);
    bool all = true;
    for (int64_t line = 0; all && line < shape.cols * shape.segments; ++line) {
      all = std::all_of(sums.begin(), sums.end(), [&](const Int8Sum& sum) {
        return int8_fits(sum, weights + line * shape.inner);
      });
    }
    if (all) return depth;
  }
  return 0;
}

int64_t int8_packed_bytes(const Int8Shape& shape) {
  return (shape.cols + kInt8Columns - 1) / kInt8Columns * kInt8Columns * shape.segments *
         int8_padded_inner(shape);
}

void int8_pack(const Int8Shape& shape, const int8_t* weights, int8_t* packed) {
  std::memset(packed, 0, int8_packed_bytes(shape));
  const int64_t inner = int8_padded_inner(shape);
  for (int64_t j = 0; j < shape.cols; ++j) {
    int8_t* panel = packed + j / kInt8Columns * kInt8Columns * shape.segments * inner;
    for (int64_t s = 0; s < shape.segments; ++s) {
      const int8_t* line = weights + (j * shape.segments + s) * shape.inner;
      for (int64_t k = 0; k < shape.inner; ++k) {
        const int64_t step = (s * inner + k) / kInt8Step;
        panel[(step * kInt8Columns + j % kInt8Columns) * kInt8Step + k % kInt8Step] = line[k];
      }
    }
  }
}

}  // namespace soft
