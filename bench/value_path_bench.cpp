// The value path at the grids and kernels of the three SOFT stages.
#include <fmt/format.h>

#include <memory>

#include "gym.h"
#include "kernels/plain/value_path.h"
#include "kernels/value_path.h"

namespace soft::gym {
namespace {

struct Data {
  std::vector<float> kernel, v, y, grad_kernel;
};

void train_path(int64_t side, int64_t heads, int64_t k) {
  const ValuePath path{{side, side}, heads, 32, {k, k}};
  const int64_t channels = heads * 32, floats = side * side * channels;
  const auto x =
      std::make_shared<Data>(Data{normal_floats(heads * k * k, 1), normal_floats(floats, 2),
                                  normal_floats(floats, 3), std::vector<float>(heads * k * k)});
  const auto forward = [=] {
    value_path(path, x->kernel.data(), {x->v.data(), channels}, {x->y.data(), channels}, 0, side);
  };
  const auto backward_kernel = [=] {
    value_path_backward_kernel(path, {x->v.data(), channels}, {x->y.data(), channels},
                               x->grad_kernel.data(), 0, heads);
  };
  const auto forward_error = [=] {
    std::fill(x->y.begin(), x->y.end(), 0.0f);
    std::vector<float> expected(floats);
    plain::value_path(path, x->kernel.data(), x->v.data(), expected.data());
    forward();
    return distance(x->y, expected);
  };
  const auto kernel_error = [=] {
    x->y = normal_floats(floats, 3, 0.01);
    std::fill(x->grad_kernel.begin(), x->grad_kernel.end(), 0.0f);
    std::vector<float> grad_v(floats), expected(heads * k * k);
    plain::value_path_backward(path, x->kernel.data(), x->v.data(), x->y.data(), grad_v.data(),
                               expected.data());
    backward_kernel();
    return distance(x->grad_kernel, expected);
  };
  const double flops = 2.0 * static_cast<double>(floats) * static_cast<double>(k * k);
  const std::string size = fmt::format("{0}x{0}x{1}/k={2}", side, channels, k);
  train({"value_path/forward/" + size, flops, 0, forward_error, 1e-3, forward});
  train({"value_path/grad_kernel/" + size, flops, 0, kernel_error, 1e-2, backward_kernel});
}

const bool kRegistered = [] {
  train_path(56, 2, 9);
  train_path(28, 4, 5);
  train_path(14, 10, 3);
  return true;
}();

}  // namespace
}  // namespace soft::gym
