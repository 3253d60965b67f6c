// Products of many small matrices, one for each sample and head. LibTorch's is a loop over them on
// one thread; on the CPU in float32 they run on src/kernels/gemm.h instead, forward and backward,
// and read transposed and strided matrices in place.
#pragma once

#include <torch/types.h>

namespace soft {

// scale·a·b: [..., n, k], [..., k, m] -> [..., n, m].
torch::Tensor batch_product(const torch::Tensor& a, const torch::Tensor& b, double scale = 1);

}  // namespace soft
