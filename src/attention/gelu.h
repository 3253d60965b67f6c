// Exact (erf) GELU with its own gradient. LibTorch 1.13's erf-GELU returns garbage gradients when
// the incoming gradient is not contiguous and oneDNN is on, which SOFT's landmark path runs
// straight into.
#pragma once

#include <torch/types.h>

namespace soft {

torch::Tensor erf_gelu(const torch::Tensor& x);

}  // namespace soft
