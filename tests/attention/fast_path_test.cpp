// Linear layers, GELU and the value path on the kernels, against the plain expressions in double.
#include "attention/fast_path.h"

#include "attention/batch_product.h"
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

TEST(FastPath, RunsProductsOfManySmallMatricesWhereTheyLie) {
  torch::manual_seed(2);
  const auto along = [](const auto& view_a, const auto& view_b) {
    return std::pair<Expression, Expression>{
        [=](const std::vector<Tensor>& in) {
          return batch_product(view_a(in[0]), view_b(in[1]), -0.5);
        },
        [=](const std::vector<Tensor>& in) {
          return torch::matmul(view_a(in[0]), view_b(in[1])) * -0.5;
        }};
  };
  const auto as_is = [](const Tensor& t) { return t; };
  const auto turned = [](const Tensor& t) { return t.transpose(-1, -2); };
  const auto heads_first = [](const Tensor& t) { return t.transpose(1, 2); };
  const auto every_second = [](const Tensor& t) { return t.slice(-1, 0, t.size(-1), 2); };
  const auto check = [](const std::pair<Expression, Expression>& f, const Tensor& a,
                        const Tensor& b) {
    expect_equal(f.first, f.second, FastPath::kProduct, {a, b});
  };
  check(along(as_is, as_is), torch::randn({2, 3, 5, 7}), torch::randn({2, 3, 7, 4}));
  check(along(as_is, turned), torch::randn({2, 3, 65, 33}), torch::randn({2, 3, 17, 33}));
  check(along(turned, turned), torch::randn({3, 7, 5}), torch::randn({3, 4, 7}));
  check(along(heads_first, heads_first), torch::randn({2, 9, 3, 8}), torch::randn({2, 8, 3, 6}));
  check(along(every_second, as_is), torch::randn({4, 5, 13}), torch::randn({4, 7, 3}));
  check(along(as_is, as_is), torch::randn({5, 1, 6}), torch::randn({5, 6, 1}));
  check(along(as_is, as_is), torch::randn({1, 1, 100, 1}), torch::randn({1, 1, 1, 50}));
}

TEST(FastPath, LeavesProductsThatAreNotOneForOneToLibTorch) {
  const int64_t before = fast_path_calls(FastPath::kProduct);
  EXPECT_EQ(batch_product(torch::ones({2, 3, 4}), torch::ones({4, 5})).sizes(),
            (std::vector<int64_t>{2, 3, 5}));
  EXPECT_EQ(batch_product(torch::ones({2, 3, 4}), torch::ones({1, 4, 5})).sizes(),
            (std::vector<int64_t>{2, 3, 5}));
  EXPECT_EQ(batch_product(torch::ones({0, 3, 4}), torch::ones({0, 4, 5})).numel(), 0);
  EXPECT_EQ(fast_path_calls(FastPath::kProduct), before);
  EXPECT_THROW(batch_product(torch::ones({2, 3, 4}), torch::ones({2, 5, 4})), std::exception);
}

TEST(FastPath, GivesProductsTheSameBitsOnAnyNumberOfThreads) {
  torch::manual_seed(3);
  const Tensor a = torch::randn({3, 70, 40}), b = torch::randn({3, 40, 50});
  const Tensor whole = batch_product(a, b);
  for (int64_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(
        torch::equal(batch_product(a.slice(0, i, i + 1), b.slice(0, i, i + 1))[0], whole[i]));
  }
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
