#include "kernels/dropout.h"

#include "kernel_case.h"
#include "kernels/plain/dropout.h"

namespace soft {
namespace {

constexpr Dropout kTenth{0.1f, 0x123456789abcdef0U};

TEST(Dropout, IsThePlainFormBitForBit) {
  test::for_every_target([] {
    for (const int64_t count : {1, 7, 16, 61, 4096}) {
      for (const int64_t first : {0, 5, 100000}) {
        const auto x = test::normal_floats(count, 1);
        std::vector<float> y(count + 1, 99);
        drop_row(kTenth, 3, first, count, x.data(), y.data());
        const DropRule rule = drop_rule(kTenth, 3);
        for (int64_t j = 0; j < count; ++j) {
          ASSERT_EQ(y[j], plain::dropped<float>(rule, first + j, x[j])) << first << " + " << j;
        }
        ASSERT_EQ(y[count], 99);
      }
    }
  });
}

TEST(Dropout, APartOfARowIsThatPartOfTheWhole) {
  test::for_every_target([] {
    const auto x = test::normal_floats(200, 1);
    std::vector<float> whole(200), parts(x);
    drop_row(kTenth, 0, 0, 200, x.data(), whole.data());
    drop_row(kTenth, 0, 0, 77, parts.data(), parts.data());  // in place
    drop_row(kTenth, 0, 77, 123, parts.data() + 77, parts.data() + 77);
    EXPECT_EQ(whole, parts);
  });
}

// The share that is dropped, over places that no other share depends on: within five deviations.
TEST(Dropout, DropsItsShareInEveryRowAndColumnAndKeepsTheExpectation) {
  constexpr int64_t kRows = 400, kCols = 400;
  const std::vector<float> ones(kCols, 1.0f);
  for (const float rate : {0.1f, 0.5f}) {
    const double spread = std::sqrt(rate * (1 - rate));
    std::vector<double> by_column(kCols, 0);
    double all = 0;
    for (int64_t i = 0; i < kRows; ++i) {
      std::vector<float> y(kCols);
      drop_row({rate, 42}, i, 0, kCols, ones.data(), y.data());
      int64_t zeros = 0;
      for (int64_t j = 0; j < kCols; ++j) {
        ASSERT_TRUE(y[j] == 0 || y[j] == 1 / (1 - rate));
        zeros += y[j] == 0 ? 1 : 0;
        by_column[j] += y[j] == 0 ? 1 : 0;
      }
      ASSERT_NEAR(zeros, rate * kCols, 5 * spread * std::sqrt(kCols)) << "row " << i;
      all += static_cast<double>(zeros);
    }
    for (int64_t j = 0; j < kCols; ++j) {
      ASSERT_NEAR(by_column[j], rate * kRows, 5 * spread * std::sqrt(kRows)) << "column " << j;
    }
    EXPECT_NEAR(all, rate * kRows * kCols, 5 * spread * std::sqrt(kRows * kCols));
  }
}

TEST(Dropout, AnotherSeedOrRowDropsOthers) {
  const std::vector<float> ones(300, 1.0f);
  const auto dropped = [&](uint64_t seed, int64_t row) {
    std::vector<float> y(300);
    drop_row({0.5f, seed}, row, 0, 300, ones.data(), y.data());
    return y;
  };
  EXPECT_EQ(dropped(1, 0), dropped(1, 0));
  EXPECT_NE(dropped(1, 0), dropped(2, 0));
  EXPECT_NE(dropped(1, 0), dropped(1 + (uint64_t{1} << 40), 0));
  EXPECT_NE(dropped(1, 0), dropped(1, 1));
}

}  // namespace
}  // namespace soft
