#include "kernels/gemm.h"

#include "kernel_case.h"
#include "kernels/plain/gemm.h"

namespace soft {
namespace {

struct GemmCase {
  Product product;
  bool transpose_a, transpose_b;
};

void check(const GemmCase& test_case) {
  const auto [p, transpose_a, transpose_b] = test_case;
  SCOPED_TRACE(testing::Message() << p.rows << "x" << p.inner << "x" << p.cols << " alpha "
                                  << p.alpha << " beta " << p.beta << (transpose_a ? " A'" : "")
                                  << (transpose_b ? " B'" : ""));
  const int64_t a_stride = (transpose_a ? p.rows : p.inner) + 3;
  const int64_t b_stride = (transpose_b ? p.inner : p.cols) + 1, c_stride = p.cols + 2;
  const auto a = test::normal_floats((transpose_a ? p.inner : p.rows) * a_stride, 1);
  const auto b = test::normal_floats((transpose_b ? p.cols : p.inner) * b_stride, 2);
  auto c = test::normal_floats(p.rows * c_stride, 3);
  if (p.beta == 0) std::fill(c.begin(), c.end(), NAN);  // must not be read
  auto expected = test::doubles(c);
  const auto a2 = test::doubles(a), b2 = test::doubles(b);
  gemm(p, {a.data(), a_stride, transpose_a}, {b.data(), b_stride, transpose_b}, c.data(), c_stride);
  plain::gemm<double>(p, {a2.data(), a_stride, transpose_a}, {b2.data(), b_stride, transpose_b},
                      expected.data(), c_stride);
  for (size_t i = 0; i < c.size(); ++i) {  // gaps between rows keep their (maybe NaN) content
    if (std::isnan(expected[i])) continue;
    ASSERT_NEAR(c[i], expected[i], 2e-6 * std::sqrt(p.inner + 1.0) * 4) << i;
  }
}

TEST(Gemm, AgreesWithThePlainFormOnOddSizesForEveryTarget) {
  test::for_every_target([] {
    for (const int64_t rows : {1, 2, 5, 6, 7, 13, 49}) {
      for (const int64_t cols : {1, 7, 8, 16, 17, 32, 49}) {
        for (const int64_t inner : {1, 2, 32, 49}) {
          for (const int flags : {0, 1, 2, 3}) {
            check({{rows, cols, inner}, (flags & 1) != 0, (flags & 2) != 0});
          }
        }
      }
    }
  });
}

TEST(Gemm, AgreesWithThePlainFormBeyondItsBlocks) {
  test::for_every_target([] {
    check({{200, 50, 300}, false, false});
    check({{193, 33, 600, 0.5f, 1}, true, false});
    check({{20, 70, 513, -1, 0.25f}, false, true});
  });
}

TEST(Gemm, ScalesAndAccumulates) {
  test::for_every_target([] {
    for (const float beta : {0.0f, 1.0f, -0.5f}) check({{11, 19, 23, 1.5f, beta}, false, false});
  });
}

TEST(Gemm, WithNothingToSumScalesC) {
  std::vector<float> c{2, 4, 6};
  gemm({1, 3, 0, 1, 0.5f}, {nullptr, 0}, {nullptr, 3}, c.data(), 3);
  EXPECT_EQ(c, (std::vector<float>{1, 2, 3}));
}

TEST(Gemm, GivesARowTheSameBitsWhereverItStands) {
  const int64_t rows = 64, cols = 49, inner = 32;
  const auto a = test::normal_floats(rows * inner, 1), b = test::normal_floats(inner * cols, 2);
  test::for_every_target([&] {
    std::vector<float> together(rows * cols), alone(cols);
    gemm({rows, cols, inner}, {a.data(), inner}, {b.data(), cols}, together.data(), cols);
    for (int64_t i = 0; i < rows; ++i) {
      gemm({1, cols, inner}, {a.data() + i * inner, inner}, {b.data(), cols}, alone.data(), cols);
      ASSERT_EQ(std::vector<float>(&together[i * cols], &together[i * cols] + cols), alone) << i;
    }
  });
}

TEST(Transpose, SwapsRowsAndColumns) {
  const auto in = test::normal_floats(11 * 20, 1);
  std::vector<float> out(17 * 13, -1);
  transpose(11, 17, in.data(), 20, out.data(), 13);
  for (int64_t i = 0; i < 11; ++i) {
    for (int64_t j = 0; j < 17; ++j) ASSERT_EQ(out[j * 13 + i], in[i * 20 + j]);
  }
  EXPECT_EQ(out[12], -1);
}

}  // namespace
}  // namespace soft
