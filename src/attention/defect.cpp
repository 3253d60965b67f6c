#include "attention/defect.h"

#include <cmath>

#include "attention/torch.h"

namespace soft {

double gelu_gradient_error(const std::function<torch::Tensor(const torch::Tensor&)>& gelu) {
  const torch::AutoGradMode with_gradient(true);
  const auto wave = [](double speed, at::IntArrayRef shape) {
    return torch::sin(speed * torch::arange(64 * 48, torch::kFloat64))
        .to(torch::kFloat32)
        .reshape(shape);
  };
  const auto x = (2 * wave(1.3, {64, 48})).requires_grad_(true);
  const auto incoming = wave(0.7, {48, 64}).t();  // not contiguous
  const auto gradient = torch::autograd::grad({gelu(x)}, {x}, {incoming})[0];
  const auto wide = x.detach().to(torch::kFloat64);
  const auto slope = 0.5 * (1 + torch::erf(wide * M_SQRT1_2)) +
                     wide * torch::exp(-0.5 * wide * wide) / std::sqrt(2 * M_PI);
  return (gradient.to(torch::kFloat64) - incoming * slope).abs().max().item<double>();
}

}  // namespace soft
