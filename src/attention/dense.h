// Mechanisms that build the whole n x n matrix ask here before they do.
#pragma once

#include <torch/types.h>

namespace soft {

// Throws, naming the bytes needed and available, when the matrices of q [B, h, n, d] would not fit
// into memory.
void check_dense_memory(const torch::Tensor& q);

}  // namespace soft
