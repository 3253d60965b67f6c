#include "kernels/batch_norm.h"

#include "kernel_case.h"
#include "kernels/plain/batch_norm.h"

namespace soft {
namespace {

constexpr double kEpsilon = 1e-5;

struct Data {
  int64_t rows, channels;
  std::vector<float> x, gamma, beta, grad_y;
};

Data make_data(int64_t rows, int64_t channels) {
  Data data{rows,
            channels,
            test::normal_floats(rows * channels, 1),
            test::normal_floats(channels, 2),
            test::normal_floats(channels, 3),
            test::normal_floats(rows * channels, 4)};
  for (float& value : data.x) value = 3 * value + 5;
  return data;
}

// The kernels as a caller strings them together, for one block of rows.
struct Result {
  std::vector<float> y, grad_x, sum, product;
};

Result run(const Data& data) {
  const int64_t c = data.channels;
  std::vector<float> mean(c), squares(c), scale(c), rstd(c);
  channel_moments(data.rows, c, data.x.data(), mean.data(), squares.data());
  for (int64_t j = 0; j < c; ++j) {
    rstd[j] = static_cast<float>(1 / std::sqrt(squares[j] / data.rows + kEpsilon));
    scale[j] = data.gamma[j] * rstd[j];
  }
  Result result{std::vector<float>(data.x.size()), std::vector<float>(data.x.size()),
                std::vector<float>(c), std::vector<float>(c)};
  const BatchNormPoint point{c, mean.data(), scale.data(), data.beta.data()};
  batch_norm_relu(point, data.rows, data.x.data(), result.y.data());
  batch_norm_sums(point, data.rows, data.x.data(), data.grad_y.data(), result.sum.data(),
                  result.product.data());
  std::vector<float> average(c), slope(c);
  for (int64_t j = 0; j < c; ++j) {
    average[j] = result.sum[j] / static_cast<float>(data.rows);
    slope[j] = result.product[j] / static_cast<float>(data.rows) * rstd[j] * rstd[j];
  }
  batch_norm_backward(point, data.rows, data.x.data(), data.grad_y.data(), average.data(),
                      slope.data(), result.grad_x.data());
  return result;
}

std::vector<double> expected_output(const Data& data, const std::vector<double>& x) {
  std::vector<double> y(x.size());
  plain::batch_norm_relu(data.rows, data.channels, x.data(), test::doubles(data.gamma).data(),
                         test::doubles(data.beta).data(), kEpsilon, y.data());
  return y;
}

TEST(BatchNorm, AgreesWithDoublePrecisionForEveryTarget) {
  test::for_every_target([] {
    for (const int64_t channels : {1, 3, 8, 37, 64}) {
      for (const int64_t rows : {1, 2, 255}) {
        const Data data = make_data(rows, channels);
        const auto expected = expected_output(data, test::doubles(data.x));
        ASSERT_LT(test::distance(run(data).y, expected), 1e-4) << rows << "x" << channels;
      }
    }
  });
}

TEST(BatchNorm, HasTheGradientOfThePlainFormForEveryTarget) {
  const Data data = make_data(11, 5);
  auto x = test::doubles(data.x);
  const auto weights = test::doubles(data.grad_y);
  const auto expected =
      test::slope(x, [&] { return test::dot(expected_output(data, x), weights); });
  test::for_every_target([&] { EXPECT_LT(test::distance(run(data).grad_x, expected), 1e-4); });
}

}  // namespace
}  // namespace soft
