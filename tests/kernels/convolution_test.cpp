#include "kernels/convolution.h"

#include "kernel_case.h"
#include "kernels/plain/convolution.h"

namespace soft {
namespace {

const std::vector<Convolution> kShapes{
    {{1, 1}, 1, 1, 3, 1, 1}, {{5, 7}, 3, 8, 3, 1, 1},     {{8, 8}, 4, 5, 3, 2, 1},
    {{9, 6}, 2, 3, 3, 2, 1}, {{2, 2}, 16, 24, 3, 2, 1},   {{6, 5}, 3, 2, 5, 1, 2},
    {{6, 6}, 3, 4, 2, 2, 0}, {{70, 65}, 32, 16, 3, 1, 1},  // several bands of patches
};

struct Data {
  std::vector<float> x, weight, bias, grad_y;
};

Data make_data(const Convolution& conv) {
  return {test::normal_floats(conv.in.size() * conv.in_channels, 1),
          test::normal_floats(conv.out_channels * conv.patch(), 2),
          test::normal_floats(conv.out_channels, 3),
          test::normal_floats(conv.out().size() * conv.out_channels, 4)};
}

TEST(Convolution, AgreesWithDoublePrecision) {
  for (const Convolution& conv : kShapes) {
    const Data data = make_data(conv);
    std::vector<float> y(data.grad_y.size(), 7), scratch(convolution_scratch(conv));
    convolution(conv, data.weight.data(), data.bias.data(), data.x.data(), y.data(),
                scratch.data());
    std::vector<double> expected(y.size());
    plain::convolution(conv, test::doubles(data.weight).data(), test::doubles(data.bias).data(),
                       test::doubles(data.x).data(), expected.data());
    EXPECT_LT(test::distance(y, expected), 1e-5 * std::max(1.0, test::largest_of(expected)));
  }
}

TEST(Convolution, HasTheGradientsOfThePlainForm) {
  for (const Convolution& conv : kShapes) {
    const Data data = make_data(conv);
    std::vector<float> grad_x(data.x.size(), 7), scratch(convolution_scratch(conv));
    std::vector<float> grad_weight(data.weight.size(), 1);  // what is there is added to
    convolution_backward(conv, data.weight.data(), data.x.data(), data.grad_y.data(), grad_x.data(),
                         grad_weight.data(), scratch.data());
    std::vector<double> expected_x(grad_x.size()), expected_weight(grad_weight.size(), 1);
    plain::convolution_backward(conv, test::doubles(data.weight).data(),
                                test::doubles(data.x).data(), test::doubles(data.grad_y).data(),
                                expected_x.data(), expected_weight.data());
    EXPECT_LT(test::distance(grad_x, expected_x), 1e-5 * test::largest_of(expected_x));
    EXPECT_LT(test::distance(grad_weight, expected_weight),
              1e-5 * test::largest_of(expected_weight));
  }
}

TEST(Convolution, LeavesOutTheInputsGradientWhenNobodyWantsIt) {
  const Convolution conv = kShapes[1];
  const Data data = make_data(conv);
  std::vector<float> with(data.weight.size()), without(data.weight.size());
  std::vector<float> grad_x(data.x.size()), scratch(convolution_scratch(conv));
  convolution_backward(conv, data.weight.data(), data.x.data(), data.grad_y.data(), grad_x.data(),
                       with.data(), scratch.data());
  convolution_backward(conv, data.weight.data(), data.x.data(), data.grad_y.data(), nullptr,
                       without.data(), scratch.data());
  EXPECT_EQ(with, without);
}

}  // namespace
}  // namespace soft
