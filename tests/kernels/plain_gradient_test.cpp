// The derivations themselves: plain backward forms against finite differences, in double.
#include "kernel_case.h"
#include "kernels/plain/inverse.h"
#include "kernels/plain/landmarks.h"
#include "kernels/plain/soft_attention.h"
#include "kernels/plain/value_path.h"

namespace soft {
namespace {

using test::doubles;
using test::normal_floats;

plain::SoftCase<double> small_case(Normalise form, bool masked) {
  plain::SoftCase<double> c{7, 4, 3, {}, {}, {}, {}, {}, 0.8, form};
  c.q = doubles(normal_floats(c.n * c.d, 1));
  c.v = doubles(normal_floats(c.n * c.d, 2));
  c.landmark = doubles(normal_floats(c.m * c.d, 3));
  if (masked) {
    c.token_mask = {1, 1, 0, 1, 1, 1, 0};
    c.landmark_mask = {1, 1, 0, 1};
  }
  return c;
}

class SoftDerivation : public testing::TestWithParam<std::tuple<Normalise, bool>> {};

TEST_P(SoftDerivation, AgreesWithFiniteDifferences) {
  auto c = small_case(std::get<0>(GetParam()), std::get<1>(GetParam()));
  const auto inverse = [&] { return plain::exact_inverse(c.m, plain::landmark_kernel(c), 0.01); };
  const std::vector<double> grad_y = doubles(normal_floats(c.n * c.d, 4));
  const auto loss = [&] { return test::dot(plain::soft_attention(c, inverse()), grad_y); };
  const auto gradient = plain::soft_attention_backward(c, inverse(), grad_y);
  EXPECT_LT(test::distance(test::slope(c.q, loss), gradient.q), 1e-7);
  EXPECT_LT(test::distance(test::slope(c.v, loss), gradient.v), 1e-7);
  EXPECT_LT(test::distance(test::slope(c.landmark, loss), gradient.landmark), 1e-7);
}

INSTANTIATE_TEST_SUITE_P(Plain, SoftDerivation,
                         testing::Combine(testing::Values(Normalise::kNone, Normalise::kCore,
                                                          Normalise::kRows, Normalise::kMean),
                                          testing::Bool()));

TEST(PlainGradient, OfTheValuePathAgreesWithFiniteDifferences) {
  const ValuePath path{{4, 3}, 2, 2, {3, 5}};
  std::vector<double> kernel = doubles(normal_floats(2 * 15, 1));
  std::vector<double> v = doubles(normal_floats(12 * 4, 2));
  const std::vector<double> grad_y = doubles(normal_floats(12 * 4, 3));
  const auto loss = [&] {
    std::vector<double> y(v.size());
    plain::value_path(path, kernel.data(), v.data(), y.data());
    return test::dot(y, grad_y);
  };
  std::vector<double> grad_v(v.size()), grad_kernel(kernel.size());
  plain::value_path_backward(path, kernel.data(), v.data(), grad_y.data(), grad_v.data(),
                             grad_kernel.data());
  EXPECT_LT(test::distance(test::slope(v, loss), grad_v), 1e-8);
  EXPECT_LT(test::distance(test::slope(kernel, loss), grad_kernel), 1e-8);
}

TEST(PlainGradient, OfTheLandmarkConvolutionAgreesWithFiniteDifferences) {
  plain::LandmarkCase<double> c{windows_by_ratio({5, 4}, {2, 2}), 3, {}, {}, {}, 0.7};
  c.weight = doubles(normal_floats(3 * 3 * 4, 1));
  c.gamma = doubles(normal_floats(3, 2));
  c.beta = doubles(normal_floats(3, 3));
  std::vector<double> q = doubles(normal_floats(20 * 3, 4));
  const std::vector<double> grad = doubles(normal_floats(4 * 3, 5));
  const auto loss = [&] { return test::dot(plain::landmark_conv(c, q), grad); };
  const auto gradient = plain::landmark_conv_backward(c, q, grad);
  EXPECT_LT(test::distance(test::slope(q, loss), gradient.q), 1e-7);
  EXPECT_LT(test::distance(test::slope(c.weight, loss), gradient.weight), 1e-7);
  EXPECT_LT(test::distance(test::slope(c.gamma, loss), gradient.gamma), 1e-7);
  EXPECT_LT(test::distance(test::slope(c.beta, loss), gradient.beta), 1e-7);
}

TEST(PlainGradient, OfPoolingAgreesWithFiniteDifferences) {
  const std::vector<double> mask{1, 1, 0, 1, 1, 1, 0};
  for (const Windows& windows :
       {adaptive_windows({7, 1}, {3, 1}), windows_by_ratio({7, 1}, {2, 1})}) {
    std::vector<double> x = doubles(normal_floats(7 * 2, 1));
    const std::vector<double> grad = doubles(normal_floats(3 * 2, 2));
    const auto loss = [&] {
      std::vector<double> out(grad.size());
      plain::average_pool(windows, 2, x.data(), 0.5, mask.data(), out.data());
      return test::dot(out, grad);
    };
    std::vector<double> grad_x(x.size());
    plain::average_pool_backward(windows, 2, grad.data(), 0.5, mask.data(), grad_x.data());
    EXPECT_LT(test::distance(test::slope(x, loss), grad_x), 1e-9);
  }
}

TEST(PlainGradient, OfGeluAgreesWithFiniteDifferences) {
  for (const GeluForm form : {GeluForm::kErf, GeluForm::kTanh}) {
    for (double x = -6; x <= 6; x += 0.37) {
      const double slope = (plain::gelu(form, x + 1e-5) - plain::gelu(form, x - 1e-5)) / 2e-5;
      EXPECT_NEAR(plain::gelu_slope(form, x), slope, 1e-9) << x;
    }
  }
}

}  // namespace
}  // namespace soft
