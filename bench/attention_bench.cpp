// One head of attention at the sizes of the SOFT stages at 224² (and one larger picture), and of
// the softmax attention of stage 4.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "gym.h"
#include "kernels/plain/soft_attention.h"
#include "kernels/plain/softmax_attention.h"
#include "kernels/soft_attention.h"
#include "kernels/softmax_attention.h"

namespace soft::gym {
namespace {

struct Soft {
  SoftHead head;
  plain::SoftCase<float> plain;
  std::vector<float> y, inverse, gathered, grad_y, grad_q, grad_v, grad_landmark, memory;
};

std::shared_ptr<Soft> make_soft(int64_t n, int64_t m, int64_t d) {
  auto x = std::make_shared<Soft>();
  x->plain = {n,
              m,
              d,
              normal_floats(n * d, 1),
              normal_floats(n * d, 2),
              normal_floats(m * d, 3, 0.3),
              {},
              {},
              0.4f,
              false};
  for (auto* values : {&x->y, &x->grad_q, &x->grad_v}) values->resize(n * d);
  x->grad_y = normal_floats(n * d, 4);
  x->inverse.resize(m * m);
  x->gathered.resize(m * d);
  x->grad_landmark.resize(m * d);
  x->head = {n,
             m,
             d,
             {x->plain.q.data(), d},
             {x->plain.v.data(), d},
             x->plain.landmark.data(),
             0.4f,
             nullptr,
             nullptr};
  x->memory.resize(std::max(soft_attention_size(x->head), soft_backward_size(x->head)));
  return x;
}

double relative(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  for (const float value : b) largest = std::max<double>(largest, std::abs(value));
  return distance(a, b) / largest;
}

void train_soft(int64_t n, int64_t m, int64_t d) {
  const auto x = make_soft(n, m, d);
  const auto forward = [=] {
    soft_attention(x->head, {}, {x->y.data(), d}, x->memory.data(),
                   {x->inverse.data(), x->gathered.data()});
  };
  const auto backward = [=] {
    soft_attention_backward(x->head, {},
                            {x->inverse.data(),
                             x->gathered.data(),
                             {x->grad_y.data(), d},
                             {x->grad_q.data(), d},
                             {x->grad_v.data(), d},
                             x->grad_landmark.data()},
                            x->memory.data());
  };
  const auto forward_error = [=] {
    forward();
    return relative(x->y, plain::soft_attention(x->plain, x->inverse));
  };
  const auto backward_error = [=] {
    forward();
    backward();
    const auto expected = plain::soft_attention_backward(x->plain, x->inverse, x->grad_y);
    return relative(x->grad_q, expected.q) + relative(x->grad_v, expected.v);
  };
  const double newton = 20 * 4.0 * m * m * m;
  const std::string size = fmt::format("n={}/m={}/d={}", n, m, d);
  train({"soft/forward/" + size, 6.0 * n * m * d + newton, 0, forward_error, 1e-3, forward});
  train({"soft/backward/" + size, 14.0 * n * m * d, 0, backward_error, 1e-3, backward});
}

void train_softmax(int64_t n, int64_t d) {
  struct Data {
    std::vector<float> q, k, v, y, scratch;
  };
  const auto x = std::make_shared<Data>(Data{normal_floats(n * d, 1), normal_floats(n * d, 2),
                                             normal_floats(n * d, 3), std::vector<float>(n * d),
                                             std::vector<float>(softmax_scratch(n, d))});
  const auto body = [=] {
    softmax_attention({n, d, {x->q.data(), d}, {x->k.data(), d}, {x->v.data(), d}, 0.18f},
                      {x->y.data(), d}, x->scratch.data());
  };
  const auto error = [=] {
    body();
    std::vector<float> expected(n * d);
    plain::softmax_attention<float>(n, d, 0.18f, x->q.data(), x->k.data(), x->v.data(),
                                    expected.data());
    return distance(x->y, expected);
  };
  train({fmt::format("softmax/n={}/d={}", n, d), 4.0 * n * n * d, 0, error, 1e-4, body});
}

const bool kRegistered = [] {
  for (const int64_t n : {196, 784, 3136, 50176}) train_soft(n, 49, 32);
  for (const int64_t n : {50, 257}) train_softmax(n, 32);
  return true;
}();

}  // namespace
}  // namespace soft::gym
