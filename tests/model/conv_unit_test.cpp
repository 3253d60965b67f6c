#include "model/conv_unit.h"

#include "attention/fast_path.h"
#include "support/tensors.h"

namespace soft {
namespace {

using torch::Tensor;

ConvUnit make_unit(int64_t in, int64_t out, int64_t stride) {
  const auto trained = [](Tensor tensor) { return tensor.requires_grad_(true); };
  ConvUnit unit{trained(torch::randn({out, in, 3, 3}) / 5), trained(torch::randn({out})), stride,
                1};
  unit.norm = {trained(1 + 0.3 * torch::randn({out})), trained(0.3 * torch::randn({out})),
               torch::zeros({out}), torch::ones({out})};
  unit.training = true;
  return unit;
}

ConvUnit in_double(const ConvUnit& unit) {
  const auto wide = [](const Tensor& tensor) {
    return tensor.detach().to(torch::kFloat64).requires_grad_(tensor.requires_grad());
  };
  ConvUnit copy = unit;
  for (Tensor* tensor : {&copy.weight, &copy.bias, &copy.norm.weight, &copy.norm.bias,
                         &copy.norm.mean, &copy.norm.variance}) {
    *tensor = wide(*tensor);
  }
  return copy;
}

std::vector<Tensor> gradients_of(ConvUnit& unit, const Tensor& input, Tensor& y) {
  const Tensor x = input.clone().requires_grad_(true);
  y = unit.forward(x);
  const Tensor weights = torch::linspace(-1, 2, y.numel(), y.options()).reshape(y.sizes());
  return torch::autograd::grad({(y * weights).sum()},
                               {x, unit.weight, unit.norm.weight, unit.norm.bias});
}

TEST(ConvUnit, EqualsLibTorchsLayersInValueAndGradient) {
  torch::manual_seed(3);
  for (const auto& [shape, out, stride] :
       std::vector<std::tuple<std::vector<int64_t>, int64_t, int64_t>>{
           {{4, 3, 9, 7}, 8, 2}, {{2, 8, 16, 16}, 5, 1}, {{1, 4, 5, 5}, 6, 2}}) {
    ConvUnit unit = make_unit(shape[1], out, stride);
    ConvUnit plain = in_double(unit);
    const Tensor x = torch::randn(shape);
    const int64_t before = fast_path_calls(FastPath::kConvolution);
    Tensor y, expected;
    const auto gradients = gradients_of(unit, x, y);
    EXPECT_EQ(fast_path_calls(FastPath::kConvolution), before + 1);
    const auto expected_gradients = gradients_of(plain, x.to(torch::kFloat64), expected);
    EXPECT_EQ(fast_path_calls(FastPath::kConvolution), before + 1);
    EXPECT_LT(test::relative_error(y, expected), 1e-5);
    for (size_t i = 0; i < gradients.size(); ++i) {
      EXPECT_LT(test::relative_error(gradients[i], expected_gradients[i]), 1e-4) << i;
    }
    EXPECT_LT(test::relative_error(unit.norm.mean, plain.norm.mean), 1e-5);
    EXPECT_LT(test::relative_error(unit.norm.variance, plain.norm.variance), 1e-5);
  }
}

TEST(ConvUnit, LeavesEvaluationToLibTorch) {
  ConvUnit unit = make_unit(3, 4, 1);
  unit.training = false;
  const int64_t before = fast_path_calls(FastPath::kConvolution);
  unit.forward(torch::randn({2, 3, 8, 8}));
  EXPECT_EQ(fast_path_calls(FastPath::kConvolution), before);
}

}  // namespace
}  // namespace soft
