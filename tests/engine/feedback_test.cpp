// Rounding with feedback against rounding to the nearest.
#include "engine/feedback.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/random.h"
#include "engine/dense.h"
#include "engine/int8_weights.h"

namespace soft {
namespace {

std::vector<float> normal_values(int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

// Rows [rows, n] in which neighbouring channels resemble each other.
std::vector<float> correlated(int64_t rows, int64_t n) {
  std::vector<float> x = normal_values(rows * n, 7);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t k = 1; k < n; ++k) x[i * n + k] = 0.9f * x[i * n + k - 1] + 0.3f * x[i * n + k];
  }
  return x;
}

std::vector<float> products(const std::vector<float>& x, int64_t n) {
  std::vector<float> sums(n * n);
  for (size_t row = 0; row < x.size(); row += n) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) sums[i * n + j] += x[row + i] * x[row + j];
    }
  }
  return sums;
}

// Columns one by one, from the last, in double; the damping is the header's hundredth.
std::vector<double> plain_factor(int64_t n, const std::vector<float>& sums) {
  std::vector<double> h(sums.begin(), sums.end());
  double trace = 0;
  for (int64_t i = 0; i < n; ++i) trace += h[i * n + i];
  for (int64_t i = 0; i < n; ++i) h[i * n + i] += 0.01 * trace / static_cast<double>(n);
  for (int64_t k = n - 1; k >= 0; --k) {
    for (int64_t i = 0; i < k; ++i) {
      const double factor = h[i * n + k] / h[k * n + k];
      for (int64_t j = 0; j < k; ++j) h[i * n + j] -= factor * h[k * n + j];
    }
    for (int64_t i = 0; i < k; ++i) h[i * n + k] /= h[k * n + k];
  }
  return h;
}

TEST(Feedback, EqualsItsPlainFormForAnySize) {
  for (const int64_t n : {1, 2, 63, 64, 65, 150}) {
    const std::vector<float> sums = products(correlated(3 * n + 5, n), n);
    const Feedback feedback = factor_inputs(n, sums);
    const std::vector<double> plain = plain_factor(n, sums);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = i + 1; j < n; ++j) {
        ASSERT_NEAR(feedback.weight[i * n + j], plain[i * n + j], 1e-3) << n;
      }
    }
  }
}

TEST(Feedback, OfInputsThatWereNeverAnythingAsksForNothing) {
  const Feedback feedback = factor_inputs(9, std::vector<float>(81));
  for (int64_t i = 0; i < 9; ++i) {
    for (int64_t j = i + 1; j < 9; ++j) EXPECT_EQ(feedback.weight[i * 9 + j], 0);
  }
}

class FeedbackRounding : public testing::Test {
 protected:
  // Squared error of the answers to x when weights are rounded like this.
  double error(const DenseShape& shape, const Feedback* feedback) const {
    const Int8Channels rounded = quantize_weights(shape, weight_.data(), feedback);
    double sum = 0;
    for (size_t row = 0; row < x_.size(); row += kIn) {
      for (int64_t o = 0; o < kOut; ++o) {
        double answer = 0;
        for (int64_t k = 0; k < kIn; ++k) {
          const double byte = rounded.weight[o * kIn + k];
          answer += (byte * rounded.scale[o] - weight_[o * kIn + k]) * x_[row + k];
        }
        sum += answer * answer;
      }
    }
    return sum;
  }

  static constexpr int64_t kIn = 100, kOut = 20;
  const std::vector<float> x_ = correlated(500, kIn), weight_ = normal_values(kIn * kOut, 3);
};

TEST_F(FeedbackRounding, HalvesTheErrorOfTheAnswersWhereInputsResembleEachOther) {
  const Feedback feedback = factor_inputs(kIn, products(x_, kIn));
  const DenseShape shape{kIn, kOut};
  EXPECT_LT(error(shape, &feedback), 0.25 * error(shape, nullptr));  // squared
}

TEST_F(FeedbackRounding, KeepsEverySumOfSixteenBitsInItsRange) {
  const Feedback feedback = factor_inputs(kIn, products(x_, kIn));
  for (const int64_t kernel : {1, 2}) {
    const DenseShape shape{kIn / (kernel * kernel), kOut, kernel};
    Feedback part = kernel == 1 ? feedback : factor_inputs(shape.in, products(x_, shape.in));
    const Int8Channels rounded = quantize_weights(shape, weight_.data(), &part);
    const std::vector<int8_t> lines = by_line(shape, rounded.weight.data());
    EXPECT_EQ(int8_depth({kOut, kernel * shape.in, kernel}, lines.data()), kInt8Deepest);
  }
}

}  // namespace
}  // namespace soft
