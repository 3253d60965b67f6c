// Probes for known defects of the LibTorch in use; `soft doctor` reports them.
#pragma once

#include <torch/types.h>

#include <functional>

namespace soft {

// How far the gradient of `gelu` is from the analytic one when the incoming gradient is not
// contiguous.
double gelu_gradient_error(const std::function<torch::Tensor(const torch::Tensor&)>& gelu);

}  // namespace soft
