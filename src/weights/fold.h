// Batch normalisation folded into the convolution before it, for inference:
//   w' = w γ / sqrt(σ² + ε)    b' = (b - μ) γ / sqrt(σ² + ε) + β
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace soft {

struct FoldedNorm {
  std::vector<float> gamma, beta, mean, variance;  // [out]
  double epsilon = 1e-5;

  // weight [out, taps] and bias [out], in place.
  void fold_into(float* weight, std::vector<float>& bias, int64_t taps) const {
    for (size_t c = 0; c < gamma.size(); ++c) {
      const float factor = gamma[c] / std::sqrt(variance[c] + static_cast<float>(epsilon));
      for (int64_t i = 0; i < taps; ++i) weight[static_cast<int64_t>(c) * taps + i] *= factor;
      bias[c] = (bias[c] - mean[c]) * factor + beta[c];
    }
  }
};

}  // namespace soft
