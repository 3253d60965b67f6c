#include "kernels/inverse.h"

#include <fstream>

#include "kernel_case.h"
#include "kernels/plain/gaussian.h"
#include "kernels/plain/inverse.h"
#include "support/support.h"

namespace soft {
namespace {

using Matrix = std::vector<float>;  // [m, m]

struct GoldenMatrix {
  Matrix a, newton, adaptive, exact;
};

constexpr int64_t kGoldenSize = 49;

Matrix read_symmetric(std::istream& in) {
  const int64_t m = kGoldenSize;
  Matrix x(m * m);
  for (int64_t i = 0; i < m; ++i) {
    in.read(reinterpret_cast<char*>(&x[i * m + i]), static_cast<std::streamsize>(4 * (m - i)));
    for (int64_t j = i; j < m; ++j) x[j * m + i] = x[i * m + j];
  }
  return x;
}

std::vector<GoldenMatrix> golden_matrices() {
  std::ifstream in(test::golden("kernels/newton.f32"), std::ios::binary);
  std::vector<GoldenMatrix> all(5);
  for (GoldenMatrix& g : all) {
    for (Matrix* x : {&g.a, &g.newton, &g.adaptive, &g.exact}) *x = read_symmetric(in);
  }
  EXPECT_TRUE(in.good());
  return all;
}

// The kernel of m random landmarks; the smaller the spread, the closer to singular.
Matrix kernel_of_landmarks(int64_t m, double spread, uint64_t seed = 1) {
  const int64_t d = 8;
  const auto l = test::doubles(test::normal_floats(m * d, seed, spread));
  std::vector<double> a(m * m);
  plain::gaussian_self<double>(m, d, l.data(), nullptr, a.data());
  return {a.begin(), a.end()};
}

struct Inverted {
  Matrix v;
  float residual;
};

Inverted newton(const InverseOptions& options, int64_t m, const Matrix& a) {
  Inverted out{Matrix(m * m), 0};
  Matrix scratch(inverse_scratch(m), NAN);  // whatever it holds must not matter
  out.residual = newton_inverse(options, m, a.data(), out.v.data(), scratch.data());
  return out;
}

bool symmetric(int64_t m, const Matrix& v) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < i; ++j) {
      if (v[i * m + j] != v[j * m + i]) return false;
    }
  }
  return true;
}

TEST(Newton, AgreesWithTheGoldenMatricesForEveryTarget) {
  const auto all = golden_matrices();
  test::for_every_target([&] {
    for (const GoldenMatrix& g : all) {
      EXPECT_LT(test::distance(newton({Inverse::kNewton}, kGoldenSize, g.a).v, g.newton), 1e-3);
      EXPECT_LT(test::distance(newton({Inverse::kNewtonAdaptive}, kGoldenSize, g.a).v, g.adaptive),
                1e-3);
    }
  });
}

TEST(Newton, FollowsTheRecurrenceInDoubleOnAnySizeAndStep) {
  test::for_every_target([] {
    for (const int64_t m : {1, 2, 7, 12, 20, 36, 47, 49, 55, 64, 81}) {
      for (const Inverse mode :
           {Inverse::kNewton, Inverse::kNewtonAdaptive, Inverse::kNewtonPaper}) {
        for (const int steps : {0, 1, 6, 20}) {
          if (m == 1 && mode == Inverse::kNewtonPaper) continue;  // sits on the edge: see below
          SCOPED_TRACE(testing::Message()
                       << "m " << m << " mode " << int(mode) << " steps " << steps);
          const InverseOptions options{mode, steps};
          const Matrix a = kernel_of_landmarks(m, 0.6, m);
          const auto expected = plain::newton_inverse(options, m, test::doubles(a));
          const Inverted result = newton(options, m, a);
          ASSERT_LT(test::distance(result.v, expected), 1e-3);
          ASSERT_NEAR(result.residual, plain::inverse_residual(m, test::doubles(a), expected),
                      1e-3);
        }
      }
    }
  });
}

TEST(Newton, KeepsItsIteratesExactlySymmetric) {
  test::for_every_target([] {
    for (const int64_t m : {7, 36, 49, 54}) {
      for (const double spread : {0.05, 0.6}) {  // without and with a safe triangular factor
        for (const Inverse mode : {Inverse::kNewton, Inverse::kNewtonAdaptive}) {
          EXPECT_TRUE(symmetric(m, newton({mode}, m, kernel_of_landmarks(m, spread)).v)) << m;
        }
      }
    }
  });
}

TEST(Newton, MoreStepsThanItTakesToSettleChangeNothing) {
  const Matrix a = kernel_of_landmarks(20, 2);
  EXPECT_EQ(newton({Inverse::kNewton, 60}, 20, a).v, newton({Inverse::kNewton, 200}, 20, a).v);
}

TEST(Exact, AgreesWithTheGoldenMatrices) {
  for (const GoldenMatrix& g : golden_matrices()) {
    Matrix v(g.a.size());
    exact_inverse(kGoldenSize, g.a.data(), 0.01, v.data());
    EXPECT_LT(test::distance(v, g.exact), 1e-2);
    EXPECT_TRUE(symmetric(kGoldenSize, v));
  }
}

TEST(Exact, AgreesWithGaussJordanOnOddSizes) {
  for (const int64_t m : {1, 2, 7, 33}) {
    const Matrix a = kernel_of_landmarks(m, 0.3);
    Matrix v(m * m);
    exact_inverse(m, a.data(), 0.01, v.data());
    EXPECT_LT(test::distance(v, plain::exact_inverse(m, test::doubles(a), 0.01)), 1e-4);
  }
}

TEST(Exact, WithoutEpsilonIsTheInverseWhereThereIsOne) {
  const Matrix a = kernel_of_landmarks(9, 1.5);
  Matrix v(81);
  exact_inverse(9, a.data(), 0, v.data());
  EXPECT_LT(test::distance(v, plain::exact_inverse(9, test::doubles(a), 0.0)), 1e-4);
}

TEST(Exact, WithoutEpsilonIsThePseudoInverseOfASingularMatrix) {
  const int64_t m = 6;
  Matrix ones(m * m, 1), v(m * m);
  exact_inverse(m, ones.data(), 0, v.data());
  for (const float value : v) EXPECT_NEAR(value, 1.0 / (m * m), 1e-7);
}

TEST(Invert, FallsBackToExactWhereThePaperRuleFails) {
  const int64_t m = 16;
  const Matrix identity = plain::plus_identity<float>(m, Matrix(m * m), 1);
  for (const Matrix& a : {identity, Matrix(m * m, 1)}) {
    for (const int steps : {20, 30, 120}) {
      Matrix v(m * m), scratch(inverse_scratch(m));
      const InverseReport report =
          invert({Inverse::kNewtonPaper, steps}, m, a.data(), v.data(), scratch.data());
      EXPECT_LT(report.residual, 1e-5);
      for (const float value : v) ASSERT_TRUE(std::isfinite(value));
      EXPECT_TRUE(report.fell_back) << steps;
    }
  }
}

TEST(Invert, StaysWithNewtonWhereItsResidualIsFine) {
  const Matrix a = kernel_of_landmarks(49, 0.1);  // nearly singular: 20 steps are not `exact`
  Matrix v(a.size()), scratch(inverse_scratch(49));
  const InverseReport report = invert({}, 49, a.data(), v.data(), scratch.data());
  EXPECT_FALSE(report.fell_back);
  EXPECT_EQ(v, newton({}, 49, a).v);
  EXPECT_GT(test::distance(v, plain::exact_inverse(49, test::doubles(a), 0.01)), 1e-3);
}

TEST(Invert, InExactModeReportsNoFallBack) {
  const Matrix a = kernel_of_landmarks(5, 1);
  Matrix v(25), scratch(inverse_scratch(5));
  const InverseReport report = invert({Inverse::kExact}, 5, a.data(), v.data(), scratch.data());
  EXPECT_FALSE(report.fell_back);
  EXPECT_LT(report.residual, 0.05);
}

}  // namespace
}  // namespace soft
