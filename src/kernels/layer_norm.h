// LayerNorm over the last axis, with the residual sum in front of it in the same pass.
//   s = x + r,  y = gamma∘(s - mean(s))/sqrt(var(s) + eps) + beta        (biased variance)
//   dx = rstd·(g - mean(g) - xhat·mean(g∘xhat)),  g = dy∘gamma,  xhat = (s - mean)·rstd
#pragma once

#include "kernels/rows.h"

namespace soft {

struct LayerNorm {
  int64_t rows;
  int64_t dim;
  const float* gamma;  // [dim]
  const float* beta;   // [dim]
  float epsilon = 1e-5f;
};

// x [rows, dim]; residual the same shape, or null; y is written and may be x or residual.
// sum: s is kept there, or null; may be x or residual. moments [rows, 2] (mean, rstd), or null.
void layer_norm(const LayerNorm& norm, ConstRows x, ConstRows residual, Rows y, Rows sum,
                float* moments);

struct LayerNormGradient {
  ConstRows sum;         // [rows, dim] s of the forward pass
  const float* moments;  // [rows, 2] of the forward pass
  ConstRows y;           // [rows, dim] incoming
  Rows x;                // [rows, dim] written: the gradient of x and of the residual alike
  float* gamma;          // [dim] added to
  float* beta;           // [dim] added to
};

void layer_norm_backward(const LayerNorm& norm, const LayerNormGradient& gradient);

}  // namespace soft
