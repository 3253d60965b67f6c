// One attention run with its kernels, in plain single precision and in plain double: the tests of
// fused forms compare the first with the last, and know from the second how much rounding costs.
#pragma once

#include "attention/fast_path.h"
#include "attention/projected.h"
#include "support/tensors.h"

namespace soft::test {

struct Pass {
  torch::Tensor y;
  std::vector<torch::Tensor> gradients;  // of all weights and of x
};

struct BothWays {
  Pass fused, plain, exact;
};

// Values, and gradients of the sum of y * weights.
inline Pass pass_of(Projected& attention, const torch::Tensor& x, const torch::Tensor& weights,
                    const Tokens& tokens) {
  const torch::Tensor input = x.clone().requires_grad_(true);
  const torch::Tensor y = attention.forward(input, tokens);
  std::vector<torch::Tensor> inputs = attention.parameters();
  inputs.push_back(input);
  return {y.detach(), torch::autograd::grad({(y * weights).sum()}, inputs)};
}

// The same attention in double, which only the plain expression can run.
inline std::shared_ptr<Projected> widened(Projected& attention) {
  auto wide = projected(attention.spec());
  Tensors weights;
  for (const auto& item : attention.named_parameters()) weights[item.key()] = item.value();
  load_parameters(*wide, weights, "");
  wide->to(torch::kFloat64);
  return wide;
}

// Masked tokens are every fifth or so, and the second half of the second item.
inline Tokens tokens_of(const Grid& grid, bool masked) {
  Tokens tokens;
  tokens.grid = grid;
  const int64_t n = tokens.count();
  if (masked) {
    tokens.mask = (torch::rand({2, n}) > 0.2).to(torch::kFloat32);
    tokens.mask[1].narrow(0, n / 2, n - n / 2).zero_();
  }
  return tokens;
}

// A silent fall-back of the first, or a fast path in the others, is a failure.
inline BothWays both_ways(Projected& attention, FastPath path, const torch::Tensor& x,
                          const Tokens& tokens) {
  const torch::Tensor weights = torch::randn_like(x);
  BothWays ways;
  const int64_t before = fast_path_calls(path);
  ways.fused = pass_of(attention, x, weights, tokens);
  const int64_t after = fast_path_calls(path);
  EXPECT_GT(after, before);
  {
    const FastPathScope plain(false);
    ways.plain = pass_of(attention, x, weights, tokens);
  }
  const auto wide = widened(attention);
  ways.exact = pass_of(*wide, x.to(torch::kFloat64), weights.to(torch::kFloat64), tokens);
  EXPECT_EQ(fast_path_calls(path), after);
  return ways;
}

}  // namespace soft::test
