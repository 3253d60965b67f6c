// gemm for matrices worth all threads: the linear layers of a training step. oneDNN's, which is
// about twice as fast as OpenBLAS on tall, thin matrices. The same bits run after run at a fixed
// number of threads. Called inside a parallel region it works on the calling thread alone.
#pragma once

#include "kernels/gemm.h"

namespace soft {

void large_gemm(const Product& product, const Operand& a, const Operand& b, float* c,
                int64_t c_stride);

}  // namespace soft
