// Linear layers, GELU and the value path on the kernels, against the plain expressions in double.
#include "attention/fast_path.h"

#include "attention/gelu.h"
#include "attention/linear.h"
#include "attention/value_path.h"
#include "support/tensors.h"

namespace soft {
namespace {

using torch::Tensor;

struct Result {
  Tensor y;
  std::vector<Tensor> gradients;
};

using Expression = std::function<Tensor(const std::vector<Tensor>&)>;

// The value at `inputs`, and the gradients of a weighted sum of it.
Result run(const Expression& f, const std::vector<Tensor>& inputs, torch::Dtype type) {
  std::vector<Tensor> leaves;
  for (const Tensor& input : inputs) leaves.push_back(input.to(type).clone().requires_grad_(true));
  const Tensor y = f(leaves);
  const Tensor weights = torch::linspace(-1, 1, y.numel(), torch::kFloat64).reshape(y.sizes());
  return {y.detach(), torch::autograd::grad({(y * weights.to(type)).sum()}, leaves)};
}

void expect_equal(const Expression& fast, const Expression& plain, FastPath path,
                  const std::vector<Tensor>& inputs) {
  const int64_t before = fast_path_calls(path);
  const Result expected = run(plain, inputs, torch::kFloat64);
  EXPECT_EQ(fast_path_calls(path), before);
  const Result result = run(fast, inputs, torch::kFloat32);
  EXPECT_EQ(fast_path_calls(path), before + 1);  // a silent fall-back is a failure
  EXPECT_LT(test::relative_error(result.y, expected.y), 1e-5);
  for (size_t i = 0; i < expected.gradients.size(); ++i) {
    EXPECT_LT(test::relative_error(result.gradients[i], expected.gradients[i]), 1e-4) << i;
  }
}

TEST(FastPath, RunsLinearLayersOfAnyShape) {
  torch::manual_seed(1);
  for (const auto& [shape, out] : std::vector<std::pair<std::vector<int64_t>, int64_t>>{
           {{1, 1}, 1}, {{3, 5, 7}, 11}, {{2, 65, 32}, 128}, {{4, 16}, 3}}) {
    const Expression f = [](const std::vector<Tensor>& in) {
      torch::nn::Linear layer(in[1].size(1), in[1].size(0));
      layer->weight = in[1];
      layer->bias = in[2];
      return linear(in[0], layer->weight, layer->bias);
    };
    expect_equal(f, f, FastPath::kLinear,
                 {torch::randn(shape), torch::randn({out, shape.back()}), torch::randn({out})});
  }
}

TEST(FastPath, RunsLinearLayersOverStridedInput) {
  torch::nn::Linear layer(6, 4);
  const Tensor x = torch::randn({5, 2, 6}).transpose(0, 1);
  EXPECT_LT(test::relative_error(linear(x, layer->weight, layer->bias), layer(x)), 1e-6);
}

TEST(FastPath, RunsBothFormsOfGelu) {
  const Tensor x = torch::linspace(-6, 6, 9001);
  const auto erf = [](const std::vector<Tensor>& in) { return erf_gelu(in[0]); };
  const auto tanh = [](const std::vector<Tensor>& in) { return tanh_gelu(in[0]); };
  expect_equal(erf, erf, FastPath::kGelu, {x});
  expect_equal(tanh, tanh, FastPath::kGelu, {x});
}

// y + the depthwise convolution as LibTorch runs it; class tokens keep y.
Tensor plain_value_path(const std::vector<Tensor>& in, const Tokens& tokens) {
  const Tensor &y = in[0], &v = in[1], &kernel = in[2];
  const int64_t b = v.size(0), h = v.size(1), d = v.size(3);
  const auto [height, width] = tokens.grid;
  const Tensor grid = v.narrow(2, tokens.prefix, height * width).permute({0, 3, 1, 2});
  const Tensor path = torch::conv2d(grid.reshape({b * d, h, height, width}), kernel, {}, 1,
                                    {kernel.size(2) / 2, kernel.size(3) / 2}, 1, h)
                          .reshape({b, d, h, height * width})
                          .permute({0, 2, 3, 1});
  return y + torch::constant_pad_nd(path, {0, 0, tokens.prefix, 0});
}

TEST(FastPath, RunsTheValuePathOnGridsAndSequences) {
  torch::manual_seed(2);
  struct Case {
    Grid grid;
    int64_t prefix, batch, heads, dim, kernel;
  };
  for (const Case& c : std::vector<Case>{{{16, 16}, 0, 3, 1, 32, 9},
                                         {{7, 5}, 1, 2, 3, 8, 5},
                                         {{1, 1}, 0, 1, 2, 4, 3},
                                         {{2, 2}, 1, 1, 6, 32, 3},
                                         {{33, 1}, 1, 2, 2, 5, 7}}) {
    Tokens tokens;
    tokens.grid = c.grid;
    tokens.prefix = c.prefix;
    const int64_t width = c.grid.w == 1 && c.grid.h > 1 ? 1 : c.kernel;
    const auto heads = [&] { return torch::randn({c.batch, c.heads, tokens.count(), c.dim}); };
    expect_equal(
        [&](const std::vector<Tensor>& in) {
          return fused_value_path(in[0], in[1], in[2], tokens);
        },
        [&](const std::vector<Tensor>& in) { return plain_value_path(in, tokens); },
        FastPath::kValuePath, {heads(), heads(), torch::randn({c.heads, 1, c.kernel, width})});
  }
}

TEST(FastPath, CanBeSwitchedOffForAScope) {
  torch::nn::Linear layer(3, 2);
  const int64_t before = fast_path_calls(FastPath::kLinear);
  {
    const FastPathScope plain(false);
    linear(torch::randn({4, 3}), layer->weight, layer->bias);
  }
  EXPECT_EQ(fast_path_calls(FastPath::kLinear), before);
  linear(torch::randn({4, 3}), layer->weight, layer->bias);
  EXPECT_EQ(fast_path_calls(FastPath::kLinear), before + 1);
}

TEST(FastPath, IsOnAgainAfterAnError) {
  EXPECT_THROW(
      {
        const FastPathScope plain(false);
        torch::ones({2}).reshape({3});
      },
      std::exception);
  EXPECT_TRUE(fast_path_applies(torch::ones({1})));
}

}  // namespace
}  // namespace soft
