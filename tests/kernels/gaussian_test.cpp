#include "kernels/gaussian.h"

#include "kernel_case.h"
#include "kernels/plain/gaussian.h"

namespace soft {
namespace {

std::vector<float> kernel_of(const GaussianShape& shape, const std::vector<float>& q, float scale,
                             const std::vector<float>& l) {
  const int64_t q_stride = shape.dim + 5, k_stride = shape.landmarks + 1;
  const auto rows = test::spread(q, shape.rows, shape.dim, q_stride);
  std::vector<float> k(shape.rows * k_stride, -1),
      scratch(gaussian_scratch(shape.landmarks, shape.dim));
  gaussian(shape, {rows.data(), q_stride}, scale, {l.data(), shape.dim}, {k.data(), k_stride},
           scratch.data());
  std::vector<float> dense;
  for (int64_t i = 0; i < shape.rows; ++i) {
    const auto row = k.begin() + i * k_stride;
    dense.insert(dense.end(), row, row + shape.landmarks);
    EXPECT_EQ(row[shape.landmarks], -1) << "wrote between the rows";
  }
  return dense;
}

std::vector<float> self_kernel_of(int64_t m, int64_t d, const std::vector<float>& l,
                                  const float* mask) {
  std::vector<float> a(m * m), scratch(gaussian_scratch(m, d));
  gaussian_self(m, d, {l.data(), d}, mask, a.data(), scratch.data());
  return a;
}

TEST(Gaussian, AgreesWithDoublePrecisionOnOddSizesForEveryTarget) {
  test::for_every_target([] {
    for (const int64_t n : {1, 3, 64, 131}) {
      for (const int64_t m : {1, 7, 16, 49}) {
        for (const int64_t d : {1, 7, 32, 64}) {
          SCOPED_TRACE(testing::Message() << n << " " << m << " " << d);
          const double spread = 1 / std::sqrt(static_cast<double>(d));
          const auto q = test::normal_floats(n * d, 1, 2 * spread);
          const auto l = test::normal_floats(m * d, 2, spread);
          const auto q2 = test::doubles(q), l2 = test::doubles(l);
          std::vector<double> expected(n * m);
          plain::gaussian<double>({n, m, d}, q2.data(), 0.5, l2.data(), expected.data());
          ASSERT_LT(test::distance(kernel_of({n, m, d}, q, 0.5f, l), expected), 1e-6);
        }
      }
    }
  });
}

TEST(Gaussian, IsOneForEqualRowsAndNeverAbove) {
  test::for_every_target([] {
    const auto q = test::normal_floats(40 * 32, 1, 30);  // large norms: distances cancel badly
    const auto k = kernel_of({40, 40, 32}, q, 1, q);
    for (int64_t i = 0; i < 40 * 40; ++i) {
      ASSERT_GE(k[i], 0);
      ASSERT_LE(k[i], 1);
      ASSERT_TRUE(i % 41 != 0 || k[i] > 0.98) << k[i];
    }
  });
}

TEST(Gaussian, OfFarRowsIsExactlyZero) {
  test::for_every_target([] {
    const std::vector<float> q{0, 1e4f, -20, 13.2f}, l{0};
    const auto k = kernel_of({4, 1, 1}, q, 1, l);
    EXPECT_EQ(k[0], 1);
    EXPECT_EQ(k[1], 0);
    EXPECT_EQ(k[2], 0);
    EXPECT_GT(k[3], 0);  // exp(-87.12)
  });
}

TEST(Gaussian, KeepsNaNVisible) {
  const std::vector<float> q{NAN}, l{0};
  EXPECT_TRUE(std::isnan(kernel_of({1, 1, 1}, q, 1, l)[0]));
}

TEST(GaussianSelf, IsSymmetricToTheLastBitWithUnitDiagonal) {
  test::for_every_target([] {
    for (const int64_t m : {1, 7, 49, 70}) {
      for (const int64_t d : {1, 7, 32}) {
        const auto l = test::normal_floats(m * d, m, 1.5 / std::sqrt(static_cast<double>(d)));
        const auto l2 = test::doubles(l);
        const auto a = self_kernel_of(m, d, l, nullptr);
        std::vector<double> expected(m * m);
        plain::gaussian_self<double>(m, d, l2.data(), nullptr, expected.data());
        ASSERT_LT(test::distance(a, expected), 1e-6);
        for (int64_t i = 0; i < m; ++i) {
          ASSERT_EQ(a[i * m + i], 1);
          for (int64_t j = 0; j < i; ++j) ASSERT_EQ(a[i * m + j], a[j * m + i]) << i << " " << j;
        }
      }
    }
  });
}

TEST(GaussianSelf, GivesDroppedLandmarksTheRowsOfTheIdentity) {
  const int64_t m = 5, d = 3;
  const auto l = test::normal_floats(m * d, 1, 0.3);
  const std::vector<float> mask{1, 0, 1, 1, 0};
  test::for_every_target([&] {
    const auto a = self_kernel_of(m, d, l, mask.data());
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < m; ++j) {
        const bool dropped = mask[i] * mask[j] == 0;
        const float unit = i == j ? 1.0f : 0.0f;
        ASSERT_TRUE(dropped ? a[i * m + j] == unit : a[i * m + j] > 0.1f) << i << " " << j;
      }
    }
  });
}

}  // namespace
}  // namespace soft
