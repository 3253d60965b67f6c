// Newton's inverse of 49 x 49 kernels, the size of every SOFT stage at 224². Flops are those of the
// plain recurrence (two full products a step), so that the halved work shows as speed.
#include <memory>

#include "gym.h"
#include "kernels/inverse.h"
#include "kernels/plain/gaussian.h"
#include "kernels/plain/inverse.h"

namespace soft::gym {
namespace {

constexpr int64_t kSize = 49;

std::vector<float> kernel_of_landmarks(double spread) {
  const int64_t d = 32;
  const std::vector<float> l = normal_floats(kSize * d, 1, spread);
  std::vector<float> a(kSize * kSize);
  plain::gaussian_self<float>(kSize, d, l.data(), nullptr, a.data());
  return a;
}

void train_newton(const std::string& name, Inverse mode, double spread) {
  const InverseOptions options{mode};
  const auto a = std::make_shared<std::vector<float>>(kernel_of_landmarks(spread));
  const auto v = std::make_shared<std::vector<float>>(kSize * kSize);
  const auto scratch = std::make_shared<std::vector<float>>(inverse_scratch(kSize));
  const auto body = [=] { newton_inverse(options, kSize, a->data(), v->data(), scratch->data()); };
  const auto error = [=] {
    body();
    const std::vector<double> wide(a->begin(), a->end());
    const std::vector<double> expected = plain::newton_inverse(options, kSize, wide);
    return distance(*v, std::vector<float>(expected.begin(), expected.end()));
  };
  const double flops = 2.0 * options.steps * 2 * kSize * kSize * kSize;
  train({"inverse/" + name, flops, 0, error, 1e-3, body});
}

const bool kRegistered = [] {
  train_newton("newton", Inverse::kNewton, 0.2);
  train_newton("newton-adaptive", Inverse::kNewtonAdaptive, 0.2);
  train_newton("newton-adaptive-unfactored", Inverse::kNewtonAdaptive, 0.01);
  return true;
}();

}  // namespace
}  // namespace soft::gym
