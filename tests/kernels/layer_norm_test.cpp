#include "kernels/layer_norm.h"

#include "kernel_case.h"
#include "kernels/plain/layer_norm.h"

namespace soft {
namespace {

struct Data {
  int64_t rows, dim;
  std::vector<float> x, residual, gamma, beta;
};

Data make_data(int64_t rows, int64_t dim, double offset = 0) {
  Data data{rows,
            dim,
            test::normal_floats(rows * dim, 1),
            test::normal_floats(rows * dim, 2, 0.5),
            test::normal_floats(dim, 3),
            test::normal_floats(dim, 4)};
  for (float& value : data.x) value += static_cast<float>(offset);
  return data;
}

// LN(x + residual) and its moments in double.
std::vector<double> expected_output(const Data& data, bool residual) {
  auto out = test::doubles(data.x);
  const auto gamma = test::doubles(data.gamma), beta = test::doubles(data.beta);
  for (size_t i = 0; residual && i < out.size(); ++i) out[i] += data.residual[i];
  for (int64_t i = 0; i < data.rows; ++i) {
    double* row = &out[i * data.dim];
    plain::layer_norm_row(data.dim, row, gamma.data(), beta.data(), 1e-5, row);
  }
  return out;
}

constexpr int64_t kDims[] = {1, 2, 7, 32, 64, 100, 320, 513};

TEST(LayerNorm, AgreesWithDoublePrecisionForEveryTarget) {
  test::for_every_target([] {
    for (const int64_t dim : kDims) {
      for (const bool residual : {false, true}) {
        const Data data = make_data(5, dim);
        const LayerNorm norm{5, dim, data.gamma.data(), data.beta.data()};
        const int64_t stride = dim + 3;
        std::vector<float> y(5 * stride, 7), sum(5 * dim), moments(10);
        layer_norm(norm, {data.x.data(), dim}, {residual ? data.residual.data() : nullptr, dim},
                   {y.data(), stride}, {sum.data(), dim}, moments.data());
        ASSERT_LT(test::distance(y, expected_output(data, residual), dim, stride), 1e-5) << dim;
        ASSERT_EQ(y[dim], 7);
        ASSERT_EQ(sum[0], residual ? data.x[0] + data.residual[0] : data.x[0]);
      }
    }
  });
}

TEST(LayerNorm, MayOverwriteItsInput) {
  const Data data = make_data(3, 37);
  std::vector<float> x = data.x;
  const LayerNorm norm{3, 37, data.gamma.data(), data.beta.data()};
  layer_norm(norm, {x.data(), 37}, {data.residual.data(), 37}, {x.data(), 37}, {}, nullptr);
  EXPECT_LT(test::distance(x, expected_output(data, true)), 1e-5);
}

TEST(LayerNorm, KeepsItsPrecisionOnALargeOffset) {
  const Data data = make_data(4, 64, 1000);
  std::vector<float> y(4 * 64);
  layer_norm({4, 64, data.gamma.data(), data.beta.data()}, {data.x.data(), 64}, {}, {y.data(), 64},
             {}, nullptr);
  EXPECT_LT(test::distance(y, expected_output(data, false)), 1e-3);
}

TEST(LayerNorm, GradientsAgreeWithThePlainFormForEveryTarget) {
  test::for_every_target([] {
    for (const int64_t dim : kDims) {
      const int64_t rows = 6;
      const Data data = make_data(rows, dim);
      const auto grad_y = test::normal_floats(rows * dim, 9);
      const LayerNorm norm{rows, dim, data.gamma.data(), data.beta.data()};
      std::vector<float> y(rows * dim), sum(rows * dim), moments(rows * 2), grad_x(rows * dim);
      std::vector<float> grad_gamma = data.beta, grad_beta = data.gamma;  // added to, so not zero
      layer_norm(norm, {data.x.data(), dim}, {data.residual.data(), dim}, {y.data(), dim},
                 {sum.data(), dim}, moments.data());
      layer_norm_backward(norm, {{sum.data(), dim},
                                 moments.data(),
                                 {grad_y.data(), dim},
                                 {grad_x.data(), dim},
                                 grad_gamma.data(),
                                 grad_beta.data()});
      auto gamma = test::doubles(data.beta), beta = test::doubles(data.gamma);
      std::vector<double> expected(rows * dim);
      const auto wide = test::doubles(sum), g = test::doubles(grad_y);
      const auto weight = test::doubles(data.gamma);
      for (int64_t i = 0; i < rows; ++i) {
        plain::layer_norm_row_backward(dim, &wide[i * dim], weight.data(), 1e-5, &g[i * dim],
                                       &expected[i * dim], gamma.data(), beta.data());
      }
      const double size = 1 + test::largest_of(expected);
      ASSERT_LT(test::distance(grad_x, expected), 1e-4 * size) << dim;
      ASSERT_LT(test::distance(grad_gamma, gamma), 1e-4) << dim;
      ASSERT_LT(test::distance(grad_beta, beta), 1e-5) << dim;
    }
  });
}

}  // namespace
}  // namespace soft
