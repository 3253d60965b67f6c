#include "base/orthogonal.h"

#include <cmath>

#include "support/support.h"

namespace soft {
namespace {

constexpr int64_t kDim = 16;

double product(const std::vector<float>& m, int64_t a, int64_t b) {
  double sum = 0;
  for (int64_t i = 0; i < kDim; ++i) sum += double{m[a * kDim + i]} * m[b * kDim + i];
  return sum;
}

TEST(OrthogonalGaussians, StandAtRightAnglesWithinABlockAndNotAcrossBlocks) {
  const auto m = orthogonal_gaussians(40, kDim, Random(1));
  ASSERT_EQ(m.size(), 40u * kDim);
  double across = 0;
  for (int64_t a = 0; a < 40; ++a) {
    for (int64_t b = 0; b < a; ++b) {
      const double cosine = product(m, a, b) / std::sqrt(product(m, a, a) * product(m, b, b));
      if (a / kDim == b / kDim) {
        EXPECT_NEAR(cosine, 0, 1e-5) << a << " " << b;
      } else {
        across = std::max(across, std::abs(cosine));
      }
    }
  }
  EXPECT_GT(across, 0.1);
}

TEST(OrthogonalGaussians, HaveTheLengthsOfGaussianVectors) {
  const auto m = orthogonal_gaussians(4000, kDim, Random(2));
  double mean = 0, variance = 0;
  for (int64_t row = 0; row < 4000; ++row) mean += product(m, row, row) / 4000;
  for (int64_t row = 0; row < 4000; ++row) {
    variance += std::pow(product(m, row, row) - mean, 2) / 4000;
  }
  EXPECT_NEAR(mean, kDim, 0.5);  // chi-squared with kDim degrees of freedom
  EXPECT_NEAR(variance, 2 * kDim, 4.0);
}

TEST(OrthogonalGaussians, FollowTheSeed) {
  EXPECT_EQ(orthogonal_gaussians(5, 3, Random(3)), orthogonal_gaussians(5, 3, Random(3)));
  EXPECT_NE(orthogonal_gaussians(5, 3, Random(3)), orthogonal_gaussians(5, 3, Random(4)));
}

}  // namespace
}  // namespace soft
