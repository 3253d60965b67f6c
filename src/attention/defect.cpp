#include "attention/defect.h"

#include <torch/torch.h>

#include <cmath>

namespace soft {

double gelu_gradient_error(const std::function<torch::Tensor(const torch::Tensor&)>& gelu) {
  const torch::AutoGradMode with_gradient(true);
  const auto x = torch::linspace(-3, 3, 64 * 48).reshape({64, 48}).requires_grad_(true);
  const auto incoming = torch::linspace(0.5, 1.5, 48 * 64).reshape({48, 64}).t();  // not contiguous
  const auto gradient = torch::autograd::grad({gelu(x)}, {x}, {incoming})[0];
  const auto wide = x.detach().to(torch::kFloat64);
  const auto slope = 0.5 * (1 + torch::erf(wide * M_SQRT1_2)) +
                     wide * torch::exp(-0.5 * wide * wide) / std::sqrt(2 * M_PI);
  return (gradient.to(torch::kFloat64) - incoming * slope).abs().max().item<double>();
}

}  // namespace soft
