#include "model/conv_unit.h"

#include "attention/fast_path.h"
#include "support/tensors.h"

namespace soft {
namespace {

using torch::Tensor;

ConvUnit make_unit(int64_t in, int64_t out, int64_t stride) {
  ConvUnit unit;
  unit.conv = torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 3).stride(stride).padding(1));
  unit.norm = torch::nn::BatchNorm2d(out);
  const torch::NoGradGuard no_grad;
  unit.norm->weight.normal_(1, 0.3);
  unit.norm->bias.normal_(0, 0.3);
  return unit;
}

ConvUnit in_double(const ConvUnit& unit) {
  ConvUnit copy;
  copy.conv = std::dynamic_pointer_cast<torch::nn::Conv2dImpl>(unit.conv->clone());
  copy.norm = std::dynamic_pointer_cast<torch::nn::BatchNorm2dImpl>(unit.norm->clone());
  copy.conv->to(torch::kFloat64);
  copy.norm->to(torch::kFloat64);
  return copy;
}

std::vector<Tensor> gradients_of(ConvUnit& unit, const Tensor& input, Tensor& y) {
  const Tensor x = input.clone().requires_grad_(true);
  y = unit.forward(x);
  const Tensor weights = torch::linspace(-1, 2, y.numel(), y.options()).reshape(y.sizes());
  return torch::autograd::grad({(y * weights).sum()},
                               {x, unit.conv->weight, unit.norm->weight, unit.norm->bias});
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
    EXPECT_LT(test::relative_error(unit.norm->running_mean, plain.norm->running_mean), 1e-5);
    EXPECT_LT(test::relative_error(unit.norm->running_var, plain.norm->running_var), 1e-5);
    EXPECT_EQ(unit.norm->num_batches_tracked.item<int64_t>(), 1);
  }
}

TEST(ConvUnit, LeavesEvaluationToLibTorch) {
  ConvUnit unit = make_unit(3, 4, 1);
  unit.norm->eval();
  const int64_t before = fast_path_calls(FastPath::kConvolution);
  unit.forward(torch::randn({2, 3, 8, 8}));
  EXPECT_EQ(fast_path_calls(FastPath::kConvolution), before);
}

}  // namespace
}  // namespace soft
