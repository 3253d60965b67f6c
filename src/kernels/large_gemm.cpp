#include "kernels/large_gemm.h"

#include <oneapi/dnnl/dnnl.h>

#include "base/error.h"

namespace soft {

void large_gemm(const Product& product, const Operand& a, const Operand& b, float* c,
                int64_t c_stride) {
  if (product.rows == 0 || product.cols == 0) return;
  const auto letter = [](const Operand& operand) { return operand.transposed ? 'T' : 'N'; };
  const dnnl_status_t status =
      dnnl_sgemm(letter(a), letter(b), product.rows, product.cols, product.inner, product.alpha,
                 a.data, a.stride, b.data, b.stride, product.beta, c, c_stride);
  if (status != dnnl_success) {
    fail("oneDNN refused a {}x{}x{} matrix product (status {})", product.rows, product.inner,
         product.cols, static_cast<int>(status));
  }
}

}  // namespace soft
