// C = alpha·op(A)·op(B) + beta·C for small dense row-major matrices, on the calling thread.
// Cost: 2·rows·cols·inner flops. An element's bits depend only on its row of op(A), its column of
// op(B), `inner` and the instruction set: never on the other rows, columns or the tiling, so
// results are the same however a caller splits rows between threads.
#pragma once

#include <cstdint>

namespace soft {

// Element (i, k) is data[i * stride + k], or data[k * stride + i] when transposed.
template <class T>
struct BasicOperand {
  const T* data;
  int64_t stride;
  bool transposed = false;

  T at(int64_t i, int64_t k) const {
    return transposed ? data[k * stride + i] : data[i * stride + k];
  }
};
using Operand = BasicOperand<float>;

struct Product {
  int64_t rows;
  int64_t cols;
  int64_t inner;
  float alpha = 1;
  float beta = 0;  // 0: C is written without being read
};

// a: op(A) [rows, inner]; b: op(B) [inner, cols]; c: [rows, cols], rows `c_stride` apart.
void gemm(const Product& product, const Operand& a, const Operand& b, float* c, int64_t c_stride);

// out [cols, rows] with rows `out_stride` apart = inᵀ, in [rows, cols] with rows `stride` apart.
void transpose(int64_t rows, int64_t cols, const float* in, int64_t stride, float* out,
               int64_t out_stride);

}  // namespace soft
