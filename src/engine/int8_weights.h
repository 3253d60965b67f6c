// Weights as bytes, so that no 16-bit sum of their products can overflow (kernels/int8_gemm.h).
#pragma once

#include <cstdint>
#include <vector>

namespace soft {

struct DenseShape;  // engine/dense.h
struct Feedback;    // engine/feedback.h

struct Int8Channels {
  std::vector<int8_t> weight;  // [out, in, kernel, kernel]
  std::vector<float> scale;    // [out], above zero
};

// weight [out, in, kernel, kernel]. Every channel takes, of several scales, the one with the least
// squared error; what does not fit a sum is taken back step by step. With `feedback` the weights
// are then rounded once more, one input after the other, each making up for what those before it
// did to the answers; a kernel's taps are rounded each by itself.
Int8Channels quantize_weights(const DenseShape& shape, const float* weight,
                              const Feedback* feedback = nullptr);

}  // namespace soft
