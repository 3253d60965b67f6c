// Ordinary attention of one head, Y = softmax(scale·Q·Kᵀ)·V, a few query rows at a time.
// Cost: 4·n²·d flops and n² exponentials; scratch O(n·d).
#pragma once

#include "kernels/rows.h"

namespace soft {

struct SoftmaxHead {
  int64_t tokens;  // n
  int64_t dim;     // d
  ConstRows q;     // [n, d]
  ConstRows k;     // [n, d]
  ConstRows v;     // [n, d]
  float scale;     // d^-1/2
};

int64_t softmax_scratch(int64_t tokens, int64_t dim);  // floats

// y [n, d] is written; scratch: softmax_scratch floats.
void softmax_attention(const SoftmaxHead& head, Rows y, float* scratch);

}  // namespace soft
