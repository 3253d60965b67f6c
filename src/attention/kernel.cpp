#include "attention/kernel.h"

#include <cmath>

#include "attention/torch.h"

namespace soft {

torch::Tensor scaled(const torch::Tensor& q) {
  return q * std::pow(static_cast<double>(q.size(-1)), -0.25);
}

torch::Tensor gaussian_exponent(const torch::Tensor& q, const torch::Tensor& l) {
  const auto q_norm = (q * q).sum(-1, true);          // [.., n, 1]
  const auto l_norm = (l * l).sum(-1).unsqueeze(-2);  // [.., 1, m]
  const auto products = torch::matmul(q, l.transpose(-1, -2));
  // |q|² + |l|² - 2ql dips slightly below zero in float.
  return -0.5 * (q_norm + l_norm - 2 * products).clamp_min(0);
}

torch::Tensor gaussian(const torch::Tensor& q, const torch::Tensor& l) {
  return torch::exp(gaussian_exponent(q, l));
}

torch::Tensor gaussian_self(const torch::Tensor& l) {
  const auto a = gaussian(l, l);
  const auto diagonal = torch::eye(l.size(-2), l.options().dtype(torch::kBool));
  // The two triangles may round apart; their mean is symmetric to the last bit.
  return torch::where(diagonal, torch::ones({}, a.options()), 0.5 * (a + a.transpose(-1, -2)));
}

}  // namespace soft
