#include "kernels/gelu.h"

#include "kernel_case.h"
#include "kernels/plain/gelu.h"

namespace soft {
namespace {

constexpr GeluForm kForms[] = {GeluForm::kErf, GeluForm::kTanh};

std::vector<float> fine_grid() {
  std::vector<float> x{0.0f, -0.0f, 1e-30f, -1e-30f, 40, -40, 1e4f, -1e4f};
  for (float v = -12; v <= 12; v += 0.0007f) x.push_back(v);
  return x;
}

TEST(Gelu, IsWithinAMillionthOfTheTruth) {
  const auto x = fine_grid();
  const auto count = static_cast<int64_t>(x.size());
  test::for_every_target([&] {
    for (const GeluForm form : kForms) {
      std::vector<float> y(x.size());
      gelu({form, 1, count}, {x.data(), count}, {y.data(), count});
      for (size_t i = 0; i < x.size(); ++i) {
        const double size = std::max(1.0, std::abs(static_cast<double>(x[i])));
        ASSERT_NEAR(y[i], plain::gelu<double>(form, x[i]), 5e-7 * size) << x[i];
      }
    }
  });
}

TEST(Gelu, SlopeIsWithinAMillionthOfTheTruth) {
  const auto x = fine_grid();
  const auto count = static_cast<int64_t>(x.size());
  const std::vector<float> ones(x.size(), 1.0f);
  test::for_every_target([&] {
    for (const GeluForm form : kForms) {
      std::vector<float> slope(x.size());
      gelu_backward({form, 1, count}, {x.data(), count}, {ones.data(), count},
                    {slope.data(), count}, nullptr);
      for (size_t i = 0; i < x.size(); ++i) {
        ASSERT_NEAR(slope[i], plain::gelu_slope<double>(form, x[i]), 1e-6) << x[i];
      }
    }
  });
}

TEST(Gelu, AddsItsBiasAndStaysInsideItsRows) {
  test::for_every_target([] {
    for (const int64_t cols : {1, 7, 8, 32, 61}) {
      const int64_t rows = 3, stride = cols + 2;
      const auto x = test::normal_floats(rows * cols, 1), bias = test::normal_floats(cols, 2);
      auto y = test::spread(x, rows, cols, stride);
      gelu({GeluForm::kTanh, rows, cols, bias.data()}, {y.data(), stride}, {y.data(), stride});
      for (int64_t i = 0; i < rows * cols; ++i) {
        const double expected = plain::gelu<double>(GeluForm::kTanh, x[i] + bias[i % cols]);
        ASSERT_NEAR(y[i / cols * stride + i % cols], expected, 2e-6);
      }
      ASSERT_EQ(y[cols], 99);
    }
  });
}

TEST(Gelu, GradientsReachInputAndBias) {
  test::for_every_target([] {
    for (const GeluForm form : kForms) {
      for (const int64_t cols : {1, 9, 32}) {
        const int64_t rows = 5;
        const auto x = test::normal_floats(rows * cols, 1), bias = test::normal_floats(cols, 2);
        const auto grad_y = test::normal_floats(rows * cols, 3);
        std::vector<float> grad = grad_y, grad_bias(cols, 0.5f);  // overwritten; added to
        gelu_backward({form, rows, cols, bias.data()}, {x.data(), cols}, {grad.data(), cols},
                      {grad.data(), cols}, grad_bias.data());
        std::vector<double> expected_bias(cols, 0.5);
        for (int64_t i = 0; i < rows * cols; ++i) {
          const double expected =
              grad_y[i] * plain::gelu_slope<double>(form, x[i] + bias[i % cols]);
          ASSERT_NEAR(grad[i], expected, 2e-6);
          expected_bias[i % cols] += expected;
        }
        ASSERT_LT(test::distance(grad_bias, expected_bias), 1e-5);
      }
    }
  });
}

}  // namespace
}  // namespace soft
