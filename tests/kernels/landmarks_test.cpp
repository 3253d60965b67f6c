#include "kernels/landmarks.h"

#include "kernel_case.h"
#include "kernels/plain/landmarks.h"
#include "support/support.h"

namespace soft {
namespace {

TEST(Windows, ByRatioLeaveOutWhatDoesNotFillOne) {
  const Windows windows = windows_by_ratio({7, 9}, {2, 2});
  EXPECT_EQ(windows.out, (Grid{3, 4}));
  EXPECT_THAT(test::error_of([] {
                windows_by_ratio({3, 9}, {4, 4});
              }),
              testing::HasSubstr("3x9 map has no whole 4x4 window"));
}

TEST(Windows, AdaptiveOnesFollowTorch) {
  // The numbers of torch.nn.functional.adaptive_avg_pool1d(arange(7), 3).
  const std::vector<float> x{0, 1, 2, 3, 4, 5, 6};
  std::vector<float> out(3);
  average_pool(adaptive_windows({7, 1}, {3, 1}), 1, {x.data(), 1}, 1, nullptr, out.data());
  EXPECT_EQ(out, (std::vector<float>{1, 3, 5}));
}

struct PoolCase {
  Windows windows;
  int64_t dim;
};

std::vector<PoolCase> pool_cases() {
  return {{windows_by_ratio({8, 12}, {4, 4}), 32}, {windows_by_ratio({7, 5}, {2, 2}), 7},
          {windows_by_ratio({20, 1}, {3, 1}), 1},  {adaptive_windows({9, 11}, {4, 4}), 8},
          {adaptive_windows({3, 3}, {7, 7}), 5},   {adaptive_windows({64, 1}, {7, 1}), 32}};
}

TEST(AveragePool, AgreesWithThePlainFormForwardAndBackward) {
  for (const auto& [windows, dim] : pool_cases()) {
    for (const bool masked : {false, true}) {
      const int64_t n = windows.map.size(), stride = dim + 1;
      std::vector<float> mask(n, 1);
      for (int64_t i = 0; masked && i < n; ++i) mask[i] = i % 3 == 0 || i > n / 2 ? 0 : 1;
      const float* mask_or_null = masked ? mask.data() : nullptr;
      const auto wide_mask = test::doubles(mask);
      const auto x = test::normal_floats(n * dim, 1);
      const auto rows = test::spread(x, n, dim, stride);
      std::vector<float> out(windows.count() * dim);
      std::vector<double> expected(out.size());
      average_pool(windows, dim, {rows.data(), stride}, 0.7f, mask_or_null, out.data());
      plain::average_pool<double>(windows, dim, test::doubles(x).data(), 0.7f, wide_mask.data(),
                                  expected.data());
      EXPECT_LT(test::distance(out, expected), 1e-6);

      const auto grad = test::normal_floats(windows.count() * dim, 2);
      auto grad_x = x;  // added to
      auto expected_x = test::doubles(x);
      average_pool_backward(windows, dim, grad.data(), 0.7f, mask_or_null, {grad_x.data(), dim});
      plain::average_pool_backward<double>(windows, dim, test::doubles(grad).data(), 0.7f,
                                           wide_mask.data(), expected_x.data());
      EXPECT_LT(test::distance(grad_x, expected_x), 1e-5);
    }
  }
}

TEST(AveragePool, OfAWindowWithoutRealTokensIsZeroAndItsMaskToo) {
  const Windows windows = windows_by_ratio({6, 1}, {2, 1});
  const std::vector<float> x{1, 3, NAN, NAN, 5, NAN}, mask{1, 1, 0, 0, 1, 0};
  std::vector<float> out(3), real(3);
  average_pool(windows, 1, {x.data(), 1}, 1, mask.data(), out.data());
  window_mask(windows, mask.data(), real.data());
  EXPECT_EQ(out, (std::vector<float>{2, 0, 5}));
  EXPECT_EQ(real, (std::vector<float>{1, 0, 1}));
}

TEST(LandmarkWeight, SurvivesPackingAndUnpacking) {
  const auto stored = test::normal_floats(5 * 5 * 6, 1);
  std::vector<float> packed(stored.size()), again(stored.size());
  pack_landmark_weight(5, {2, 3}, stored.data(), packed.data());
  unpack_landmark_weight(5, {2, 3}, packed.data(), again.data());
  EXPECT_EQ(again, stored);
  EXPECT_EQ(packed[(1 * 5 + 2) * 5 + 3], stored[(3 * 5 + 2) * 6 + 1]);
}

struct ConvCase {
  Grid map, ratio;
  int64_t dim;
  bool masked = false;
};

// The convolution and its plain twin, for both directions.
void check_conv(const ConvCase& c) {
  SCOPED_TRACE(testing::Message() << c.map.h << "x" << c.map.w << " by " << c.ratio.h << "x"
                                  << c.ratio.w << ", dim " << c.dim);
  const Windows windows = windows_by_ratio(c.map, c.ratio);
  const int64_t n = c.map.size(), d = c.dim, m = windows.count(), stride = d + 3;
  const auto stored = test::normal_floats(d * d * c.ratio.size(), 1, 0.3);
  const auto gamma = test::normal_floats(d, 2), beta = test::normal_floats(d, 3);
  auto q = test::normal_floats(n * d, 4);
  const auto rows = test::spread(q, n, d, stride);
  std::vector<float> packed(stored.size()), mask;
  pack_landmark_weight(d, c.ratio, stored.data(), packed.data());
  for (int64_t i = 0; c.masked && i < n; ++i) {
    mask.push_back(i % 4 == 1 ? 0 : 1);
    if (mask[i] == 0) std::fill_n(&q[i * d], d, 0.0f);
  }
  const LandmarkConv conv{
      windows, d, packed.data(), gamma.data(), beta.data(), 0.6f, c.masked ? mask.data() : nullptr};
  const plain::LandmarkCase<double> wide{
      windows, d, test::doubles(stored), test::doubles(gamma), test::doubles(beta), 0.6f};
  std::vector<float> landmarks(m * d), sampled(m * d), scratch(landmark_scratch(conv), NAN);
  landmark_conv(conv, {rows.data(), stride}, landmarks.data(), sampled.data(), scratch.data());
  ASSERT_LT(test::distance(landmarks, plain::landmark_conv(wide, test::doubles(q))), 2e-5);

  const auto incoming = test::normal_floats(m * d, 5);
  std::vector<float> grad_q(n * d, 1), grad_weight(packed.size()), grad_gamma(d, 2),
      grad_beta(d, 3);
  landmark_conv_backward(conv, {rows.data(), stride},
                         {sampled.data(),
                          incoming.data(),
                          {grad_q.data(), d},
                          grad_weight.data(),
                          grad_gamma.data(),
                          grad_beta.data()},
                         scratch.data());
  auto expected = plain::landmark_conv_backward(wide, test::doubles(q), test::doubles(incoming));
  for (int64_t i = 0; i < n * d; ++i) {
    const bool real = mask.empty() || mask[i / d] != 0;
    expected.q[i] = 1 + (real ? expected.q[i] : 0);
  }
  for (double& value : expected.gamma) value += 2;
  for (double& value : expected.beta) value += 3;
  std::vector<float> grad_stored(packed.size());
  unpack_landmark_weight(d, c.ratio, grad_weight.data(), grad_stored.data());
  ASSERT_LT(test::distance(grad_q, expected.q), 1e-4);
  ASSERT_LT(test::distance(grad_stored, expected.weight), 1e-4);
  ASSERT_LT(test::distance(grad_gamma, expected.gamma), 1e-4);
  ASSERT_LT(test::distance(grad_beta, expected.beta), 1e-4);
}

TEST(LandmarkConv, AgreesWithThePlainFormForwardAndBackwardForEveryTarget) {
  test::for_every_target([] {
    check_conv({{8, 12}, {4, 4}, 32});
    check_conv({{7, 9}, {2, 2}, 7});
    check_conv({{5, 5}, {1, 1}, 32});
    check_conv({{17, 16}, {8, 8}, 16});
    check_conv({{23, 1}, {4, 1}, 5});
    check_conv({{24, 1}, {4, 1}, 32, true});
  });
}

}  // namespace
}  // namespace soft
