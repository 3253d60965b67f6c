#include "attention/gelu.h"

#include <torch/version.h>

#include "attention/defect.h"
#include "support/tensors.h"

namespace soft {
namespace {

using torch::Tensor;

TEST(ErfGelu, EqualsLibTorchForward) {
  const Tensor x = torch::linspace(-6, 6, 1001);
  EXPECT_LT(test::absolute_error(erf_gelu(x), torch::gelu(x)), 1e-6);
}

TEST(ErfGelu, HasTheRightGradientWhereTheIncomingOneIsNotContiguous) {
  EXPECT_LT(gelu_gradient_error(erf_gelu), 1e-5);
}

// Wrong by far in 1.13, or not a number at all; right in 2.6. When no LibTorch below 2 is left,
// erf_gelu may go.
TEST(ErfGelu, StandsInForALibTorchWhoseGradientIsWrong) {
  const double error = gelu_gradient_error([](const Tensor& x) { return torch::gelu(x); });
  EXPECT_EQ(error < 1e-2, TORCH_VERSION_MAJOR >= 2) << error;
}

TEST(ErfGelu, AgreesWithFiniteDifferencesInDouble) {
  const Tensor x = torch::linspace(-4, 4, 81, torch::kFloat64).requires_grad_(true);
  const Tensor gradient = torch::autograd::grad({erf_gelu(x).sum()}, {x})[0];
  const double step = 1e-6;
  const Tensor slope = (erf_gelu(x.detach() + step) - erf_gelu(x.detach() - step)) / (2 * step);
  EXPECT_LT(test::absolute_error(gradient, slope), 1e-8);
}

}  // namespace
}  // namespace soft
