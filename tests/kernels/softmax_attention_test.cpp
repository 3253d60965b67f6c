#include "kernels/softmax_attention.h"

#include "kernel_case.h"
#include "kernels/plain/softmax_attention.h"

namespace soft {
namespace {

void check(int64_t n, int64_t d, double size) {
  SCOPED_TRACE(testing::Message() << n << " tokens, dim " << d << ", size " << size);
  const int64_t stride = d + 4;
  const auto q = test::normal_floats(n * d, 1, size), k = test::normal_floats(n * d, 2, size);
  const auto v = test::normal_floats(n * d, 3);
  const auto q_rows = test::spread(q, n, d, stride), k_rows = test::spread(k, n, d, stride);
  const float scale = 1 / std::sqrt(static_cast<float>(d));
  std::vector<float> y(n * stride, 99), scratch(softmax_scratch(n, d), NAN);
  softmax_attention({n, d, {q_rows.data(), stride}, {k_rows.data(), stride}, {v.data(), d}, scale},
                    {y.data(), stride}, scratch.data());
  std::vector<double> expected(n * d);
  plain::softmax_attention<double>(n, d, scale, test::doubles(q).data(), test::doubles(k).data(),
                                   test::doubles(v).data(), expected.data());
  ASSERT_LT(test::distance(y, expected, d, stride), 1e-5 * (1 + size * size));
  ASSERT_EQ(y[d], 99);
}

TEST(SoftmaxAttention, AgreesWithDoublePrecisionForEveryTarget) {
  test::for_every_target([] {
    for (const int64_t n : {1, 2, 7, 24, 50, 197, 257}) {
      for (const int64_t d : {1, 7, 32, 64}) check(n, d, 1);
    }
  });
}

TEST(SoftmaxAttention, SurvivesLargeScores) {
  test::for_every_target([] { check(50, 32, 30); });
}

}  // namespace
}  // namespace soft
