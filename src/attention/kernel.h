// The Gaussian kernel that takes softmax's place in the paper's softmax-free attention:
//   K[i,j] = exp(-|q_i - l_j|² / 2),  q and l already divided by d^(1/4).
#pragma once

#include <torch/types.h>

namespace soft {

// q / d^(1/4), so that |q - k|²/2 is the paper's |q - k|²/(2 sqrt d).
torch::Tensor scaled(const torch::Tensor& q);  // [B, h, n, d]

// [.., n, d] and [.., m, d] -> [.., n, m]
torch::Tensor gaussian(const torch::Tensor& q, const torch::Tensor& l);
torch::Tensor gaussian_exponent(const torch::Tensor& q, const torch::Tensor& l);  // its logarithm

// The kernel of a set with itself: symmetric, diagonal exactly 1. [.., m, d] -> [.., m, m]
torch::Tensor gaussian_self(const torch::Tensor& l);

}  // namespace soft
