// GELU with the bias of the linear layer before it.
//   erf:  gelu(x) = x·Phi(x)                  tanh: x·sigmoid(2u), u = sqrt(2/pi)·(x + 0.044715·x³)
// Both are max(x, 0) - |x|·c(|x|) with a tail c that decays like a Gaussian; absolute error < 1e-6.
#pragma once

#include "kernels/rows.h"

namespace soft {

enum class GeluForm { kErf, kTanh };

struct Gelu {
  GeluForm form;
  int64_t rows;
  int64_t cols;
  const float* bias = nullptr;  // [cols], or null
};

// y = gelu(x + bias); x, y: [rows, cols]; y may be x.
void gelu(const Gelu& shape, ConstRows x, Rows y);

// grad_x = grad_y∘gelu'(x + bias), which may overwrite grad_y; its column sums are added to
// grad_bias [cols] unless that is null.
void gelu_backward(const Gelu& shape, ConstRows x, ConstRows grad_y, Rows grad_x, float* grad_bias);

}  // namespace soft
