// Weights as bytes, so that no 16-bit sum of their products can overflow (kernels/int8_gemm.h).
#pragma once

#include <cstdint>
#include <vector>

namespace soft {

struct DenseShape;  // engine/dense.h

struct Int8Channels {
  std::vector<int8_t> weight;  // [out, in, kernel, kernel]
  std::vector<float> scale;    // [out], above zero
};

// weight [out, in, kernel, kernel]. Every channel takes, of several scales, the one with the least
// squared error; what does not fit a sum is taken back step by step.
Int8Channels quantize_weights(const DenseShape& shape, const float* weight);

}  // namespace soft
