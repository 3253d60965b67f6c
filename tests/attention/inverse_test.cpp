#include "attention/inverse.h"

#include "attention/fast_path.h"
#include "attention/kernel.h"
#include "support/tensors.h"

namespace soft {
namespace {

using test::all_finite;
using test::relative_error;
using torch::Tensor;

constexpr Inverse kModes[] = {Inverse::kNewton, Inverse::kNewtonAdaptive, Inverse::kNewtonPaper,
                              Inverse::kExact};

InverseRule with_mode(Inverse mode, InverseGrad grad = InverseGrad::kOneShot) {
  InverseRule options;
  options.mode = mode;
  options.grad = grad;
  return options;
}

// Landmarks so far apart that A is well conditioned and every mode converges.
Tensor separated_core(int64_t m, torch::ScalarType type = torch::kFloat64) {
  torch::manual_seed(3);
  return gaussian_self(torch::randn({2, m, 8}, type) * 0.9);
}

class EveryInverse : public testing::TestWithParam<Inverse> {};

TEST_P(EveryInverse, InvertsAWellConditionedMatrix) {
  InverseRule options = with_mode(GetParam());
  options.epsilon = 0;
  const Tensor a = separated_core(12);
  const Tensor product = torch::matmul(a, inverse(a, options));
  EXPECT_LT(test::absolute_error(product, torch::eye(12, a.options()).expand_as(product)), 1e-6);
}

TEST_P(EveryInverse, IsSymmetric) {
  const Tensor inv = inverse(separated_core(9, torch::kFloat32), with_mode(GetParam()));
  EXPECT_LT(relative_error(inv.transpose(-1, -2), inv), 1e-6);
}

TEST_P(EveryInverse, IsFiniteWithFiniteGradientsOnTheHardestMatrices) {
  const std::vector<Tensor> hard{torch::ones({1, 49, 49}), torch::eye(49).unsqueeze(0),
                                 gaussian_self(torch::randn({1, 49, 32}) * 1e-4),
                                 torch::ones({1, 1, 1})};
  for (InverseGrad grad : {InverseGrad::kOneShot, InverseGrad::kUnrolled}) {
    for (const Tensor& matrix : hard) {
      const Tensor a = matrix.clone().requires_grad_(true);
      const Tensor inv = inverse(a, with_mode(GetParam(), grad));
      EXPECT_TRUE(all_finite(inv));
      EXPECT_TRUE(all_finite(torch::autograd::grad({inv.sum()}, {a})[0]));
    }
  }
}

TEST_P(EveryInverse, OfOneMatrixDoesNotDependOnItsNeighbours) {
  torch::manual_seed(5);
  const Tensor batch =
      torch::stack({torch::ones({16, 16}), torch::eye(16), gaussian_self(torch::randn({16, 8}))});
  const Tensor together = inverse(batch, with_mode(GetParam()));
  for (int64_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(
        torch::equal(inverse(batch.narrow(0, i, 1), with_mode(GetParam()))[0], together[i]));
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryInverse, testing::ValuesIn(kModes), [](const auto& info) {
  std::string name(name_of(info.param));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Inverse, FallsBackToTheExactOneWhereThePaperSitsOnTheEdge) {
  const int64_t before = inverse_fallbacks();
  const Tensor inv = inverse(torch::eye(8).unsqueeze(0), with_mode(Inverse::kNewtonPaper));
  EXPECT_EQ(inverse_fallbacks(), before + 1);  // the steps give exactly 0 here: finite, and wrong
  EXPECT_LT(test::absolute_error(inv[0], torch::eye(8)), 1e-6);
}

// Matrices that Cholesky takes between some that it does not: indefinite by rounding, by much, and
// singular. Each is its own affair, and the kernel and the plain form follow one rule.
TEST(Inverse, ExactIsOneRuleForKernelAndTensorsMatrixByMatrix) {
  torch::manual_seed(11);
  const auto turned = [](std::vector<double> eigenvalues) {
    const Tensor random = torch::randn({6, 6}, torch::kFloat64);
    const Tensor basis = std::get<0>(torch::linalg_qr(random));
    return basis.matmul(torch::diag(torch::tensor(eigenvalues, torch::kFloat64))).matmul(basis.t());
  };
  const auto expect_near = [](const Tensor& found, const Tensor& expected, int64_t matrix) {
    const double size = 1 + expected.abs().max().item<double>();
    EXPECT_LT(test::absolute_error(found, expected), 1e-6 * size) << "matrix " << matrix;
  };
  const Tensor batch =
      torch::stack({turned({1, 2, 3, 4, 5, 6}), turned({-0.5, 1, 2, 3, 4, 5}),
                    turned({-0.02, 0.5, 1, 1, 2, 2}), turned({0, 1, 1, 10, 20, 30}),
                    turned({-1, -1, -2, -2, -3, -3}), turned({0, 0, 0, 1, 1, 4})})
          .to(torch::kFloat32);
  for (const double epsilon : {0.01, 1e-5, 0.0}) {
    SCOPED_TRACE(epsilon);
    InverseRule rule = with_mode(Inverse::kExact);
    rule.epsilon = epsilon;
    const Tensor by_kernel = inverse(batch, rule);
    const FastPathScope path(false);
    const Tensor plain = inverse(batch, rule);
    for (int64_t i = 0; i < batch.size(0); ++i) {
      expect_near(plain[i], by_kernel[i], i);
      expect_near(plain[i], inverse(batch.narrow(0, i, 1), rule)[0], i);
    }
    expect_near(plain[0], torch::linalg_inv(batch[0] + epsilon * torch::eye(6)), 0);
    EXPECT_EQ(plain[4].abs().max().item<float>(), 0) << "no eigenvalue is positive";
  }
}

TEST(Inverse, OneShotGradientIsTheUnrolledOneAtConvergence) {
  const Tensor a = separated_core(10).requires_grad_(true);
  const Tensor weights = torch::randn_like(a);
  const auto gradient = [&](InverseGrad grad) {
    const Tensor inv = inverse(a, with_mode(Inverse::kNewtonAdaptive, grad));
    return torch::autograd::grad({(inv * weights).sum()}, {a})[0];
  };
  // The unrolled one keeps iterates symmetric, so it gives the symmetric part.
  const Tensor one_shot = gradient(InverseGrad::kOneShot);
  const Tensor symmetric = 0.5 * (one_shot + one_shot.transpose(-1, -2));
  const Tensor unrolled = gradient(InverseGrad::kUnrolled);
  EXPECT_LT(relative_error(0.5 * (unrolled + unrolled.transpose(-1, -2)), symmetric), 1e-6);
}

TEST(Inverse, UnrolledGradientAgreesWithFiniteDifferences) {
  const Tensor a = separated_core(5).requires_grad_(true);
  const InverseRule options = with_mode(Inverse::kNewton, InverseGrad::kUnrolled);
  const Tensor gradient = torch::autograd::grad({inverse(a, options).square().sum()}, {a})[0];
  const torch::NoGradGuard no_grad;
  const Tensor direction = torch::randn_like(a);
  const double step = 1e-6;
  const auto value = [&](double t) {
    return inverse(a + t * direction, options).square().sum().item<double>();
  };
  const double slope = (value(step) - value(-step)) / (2 * step);
  EXPECT_NEAR((gradient * direction).sum().item<double>() / slope, 1, 1e-5);
}

TEST(Inverse, ResidualFallsStepByStepOnAConvergingMatrix) {
  const Tensor a = separated_core(12);
  double last = INFINITY;
  for (const Tensor& v : newton_iterates(a, with_mode(Inverse::kNewtonAdaptive))) {
    const double residual = inverse_residual(a, v).max().item<double>();
    EXPECT_LT(residual, std::max(last, 1e-10));
    last = residual;
  }
  EXPECT_LT(last, 1e-8);
}

}  // namespace
}  // namespace soft
