// Kernels that pass once over the tokens: measured by the bytes they move, beside a plain copy.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "gym.h"
#include "kernels/gelu.h"
#include "kernels/landmarks.h"
#include "kernels/layer_norm.h"
#include "kernels/plain/gelu.h"
#include "kernels/plain/landmarks.h"
#include "kernels/plain/layer_norm.h"

namespace soft::gym {
namespace {

struct Data {
  std::vector<float> x, residual, gamma, beta, y;
};

std::shared_ptr<Data> make_data(int64_t rows, int64_t dim) {
  return std::make_shared<Data>(Data{normal_floats(rows * dim, 1), normal_floats(rows * dim, 2),
                                     normal_floats(dim, 3), normal_floats(dim, 4),
                                     std::vector<float>(rows * dim)});
}

void train_layer_norm(int64_t rows, int64_t dim) {
  const auto data = make_data(rows, dim);
  const auto body = [=] {
    layer_norm({rows, dim, data->gamma.data(), data->beta.data()}, {data->x.data(), dim},
               {data->residual.data(), dim}, {data->y.data(), dim}, {}, nullptr);
  };
  const auto error = [=] {
    body();
    std::vector<float> expected(rows * dim);
    for (int64_t i = 0; i < rows * dim; ++i) expected[i] = data->x[i] + data->residual[i];
    for (int64_t i = 0; i < rows; ++i) {
      float* row = &expected[i * dim];
      plain::layer_norm_row(dim, row, data->gamma.data(), data->beta.data(), 1e-5f, row);
    }
    return distance(data->y, expected);
  };
  train({fmt::format("layer_norm/{}x{}", rows, dim), 0, 12.0 * rows * dim, error, 1e-4, body});
}

void train_gelu(const std::string& name, GeluForm form, int64_t rows, int64_t dim) {
  const auto data = make_data(rows, dim);
  const auto body = [=] {
    gelu({form, rows, dim, data->beta.data()}, {data->x.data(), dim}, {data->y.data(), dim});
  };
  const auto error = [=] {
    body();
    std::vector<float> expected(rows * dim);
    for (int64_t i = 0; i < rows * dim; ++i) {
      expected[i] = plain::gelu(form, data->x[i] + data->beta[i % dim]);
    }
    return distance(data->y, expected);
  };
  train({fmt::format("gelu/{}/{}x{}", name, rows, dim), 0, 8.0 * rows * dim, error, 1e-5, body});
}

void train_landmarks(int64_t side, int64_t ratio, int64_t channels) {
  const int64_t d = 32, n = side * side;
  const Windows windows = windows_by_ratio({side, side}, {ratio, ratio});
  struct Sampler {
    plain::LandmarkCase<float> plain;
    std::vector<float> q, dense, weight, landmarks, scratch;
  };
  const auto x = std::make_shared<Sampler>();
  x->plain = {windows, d, normal_floats(d * d * ratio * ratio, 1, 0.05), normal_floats(d, 2),
              normal_floats(d, 3)};
  x->dense = normal_floats(n * d, 4);
  x->q.resize(n * channels);
  for (int64_t i = 0; i < n; ++i) std::copy_n(&x->dense[i * d], d, &x->q[i * channels]);
  x->weight.resize(x->plain.weight.size());
  pack_landmark_weight(d, windows.step, x->plain.weight.data(), x->weight.data());
  const LandmarkConv conv{windows, d, x->weight.data(), x->plain.gamma.data(),
                          x->plain.beta.data()};
  x->landmarks.resize(windows.count() * d);
  x->scratch.resize(landmark_scratch(conv));
  const auto body = [=] {
    landmark_conv(conv, {x->q.data(), channels}, x->landmarks.data(), nullptr, x->scratch.data());
  };
  const auto error = [=] {
    body();
    return distance(x->landmarks, plain::landmark_conv(x->plain, x->dense));
  };
  const double flops = 2.0 * static_cast<double>(windows.count() * ratio * ratio * d * d);
  train({fmt::format("landmarks/{0}x{0}/r={1}", side, ratio), flops, 0, error, 1e-3, body});
}

const bool kRegistered = [] {
  const auto data = make_data(3136, 64);
  train_peer("copy/3136x64", 0,
             [=] { std::copy(data->x.begin(), data->x.end(), data->y.begin()); });
  train_layer_norm(3136, 64);
  train_layer_norm(196, 320);
  train_gelu("erf", GeluForm::kErf, 196, 1280);
  train_gelu("tanh", GeluForm::kTanh, 196, 1280);
  train_landmarks(56, 8, 64);
  train_landmarks(28, 4, 128);
  train_landmarks(14, 2, 320);
  return true;
}();

}  // namespace
}  // namespace soft::gym
