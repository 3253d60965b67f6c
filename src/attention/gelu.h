// The two forms of GELU, each with its own gradient: LibTorch 1.13's erf form returns garbage
// gradients when the incoming gradient is not contiguous and oneDNN is on, which SOFT's landmark
// path runs straight into. On the CPU in float32 both run on src/kernels/gelu.h.
#pragma once

#include <torch/types.h>

namespace soft {

torch::Tensor erf_gelu(const torch::Tensor& x);   // x·Φ(x): landmarks, ViT blocks
torch::Tensor tanh_gelu(const torch::Tensor& x);  // its approximation: the MLP of SOFT layers

}  // namespace soft
