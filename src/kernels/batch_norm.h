// Batch normalisation followed by ReLU, in training, over rows of channels [rows, C]: the pixels of
// all maps [H, W, C] of a batch.
//   y = max(0, scale∘(x - mean) + beta),  scale = gamma / sqrt(variance + eps)
// Each function works on a block of rows; the caller adds up the blocks in double, always in the
// same order.
#pragma once

#include <cstdint>

namespace soft {

constexpr int64_t kNormBlock = 256;  // rows summed in float before double takes over

// mean [C] and sum of squares about it [C] of at most kNormBlock rows.
void channel_moments(int64_t rows, int64_t channels, const float* x, float* mean, float* squares);

struct BatchNormPoint {
  int64_t channels;
  const float* mean;  // [C] each
  const float* scale;
  const float* beta;
};

void batch_norm_relu(const BatchNormPoint& point, int64_t rows, const float* x, float* y);

// g = grad_y where y > 0, else 0. Sums of g [C] and of g∘(x - mean) [C] over at most kNormBlock
// rows.
void batch_norm_sums(const BatchNormPoint& point, int64_t rows, const float* x, const float* grad_y,
                     float* sum, float* product);

// grad_x = scale∘(g - sum - (x - mean)∘product), with sum and product [C] as averages over all
// rows, the latter divided by the variance.
void batch_norm_backward(const BatchNormPoint& point, int64_t rows, const float* x,
                         const float* grad_y, const float* sum, const float* product,
                         float* grad_x);

}  // namespace soft
