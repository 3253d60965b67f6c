// The plain form of kernels/gemm.h: what the fast kernel must compute, in any precision.
#pragma once

#include "kernels/gemm.h"

namespace soft::plain {

template <class T>
void gemm(const Product& product, const BasicOperand<T>& a, const BasicOperand<T>& b, T* c,
          int64_t c_stride) {
  for (int64_t i = 0; i < product.rows; ++i) {
    for (int64_t j = 0; j < product.cols; ++j) {
      T sum = 0;
      for (int64_t k = 0; k < product.inner; ++k) sum += a.at(i, k) * b.at(k, j);
      T& out = c[i * c_stride + j];
      out = T(product.alpha) * sum + (product.beta == 0 ? T(0) : T(product.beta) * out);
    }
  }
}

}  // namespace soft::plain
