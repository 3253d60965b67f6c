// The plain form of kernels/landmarks.h. All arrays are dense: q, x [H·W, d].
#pragma once

#include <vector>

#include "kernels/landmarks.h"
#include "kernels/plain/gelu.h"
#include "kernels/plain/layer_norm.h"

namespace soft::plain {

// Calls visit(window, token) for every token of every window.
template <class Visit>
void for_each_member(const Windows& windows, const Visit& visit) {
  const auto begin = [](int64_t i, int64_t step, int64_t size, int64_t out) {
    return step > 0 ? i * step : i * size / out;
  };
  const auto end = [](int64_t i, int64_t step, int64_t size, int64_t out) {
    return step > 0 ? (i + 1) * step : ((i + 1) * size + out - 1) / out;
  };
  const Grid map = windows.map, out = windows.out, step = windows.step;
  for (int64_t w = 0; w < out.size(); ++w) {
    const int64_t i = w / out.w, j = w % out.w;
    for (int64_t y = begin(i, step.h, map.h, out.h); y < end(i, step.h, map.h, out.h); ++y) {
      for (int64_t x = begin(j, step.w, map.w, out.w); x < end(j, step.w, map.w, out.w); ++x) {
        visit(w, y * map.w + x);
      }
    }
  }
}

// 1 / (number of real tokens) of each window, 0 where there are none.
template <class T>
std::vector<T> window_weights(const Windows& windows, const T* token_mask) {
  std::vector<T> weight(windows.count());
  for_each_member(windows, [&](int64_t w, int64_t token) {
    weight[w] += token_mask == nullptr ? T(1) : token_mask[token];
  });
  for (T& value : weight) value = value > 0 ? 1 / value : 0;
  return weight;
}

template <class T>
void average_pool(const Windows& windows, int64_t dim, const T* x, T scale, const T* token_mask,
                  T* out) {
  const std::vector<T> weight = window_weights(windows, token_mask);
  for (int64_t i = 0; i < windows.count() * dim; ++i) out[i] = 0;
  for_each_member(windows, [&](int64_t w, int64_t token) {
    const T share = scale * weight[w] * (token_mask == nullptr ? T(1) : token_mask[token]);
    for (int64_t c = 0; c < dim; ++c) out[w * dim + c] += share * x[token * dim + c];
  });
}

// Adds to grad_x.
template <class T>
void average_pool_backward(const Windows& windows, int64_t dim, const T* grad_out, T scale,
                           const T* token_mask, T* grad_x) {
  const std::vector<T> weight = window_weights(windows, token_mask);
  for_each_member(windows, [&](int64_t w, int64_t token) {
    const T share = scale * weight[w] * (token_mask == nullptr ? T(1) : token_mask[token]);
    for (int64_t c = 0; c < dim; ++c) grad_x[token * dim + c] += share * grad_out[w * dim + c];
  });
}

// The landmark convolution with weight [d out, d in, kh, kw], as stored.
template <class T>
struct LandmarkCase {
  Windows windows;
  int64_t dim;
  std::vector<T> weight, gamma, beta;
  T scale = 1;
  T epsilon = T(1e-5);

  // Calls visit(window, token, offset of the token in the window's kh x kw taps).
  template <class Visit>
  void for_each_tap(const Visit& visit) const {
    std::vector<int64_t> taps(windows.count());
    for_each_member(windows, [&](int64_t w, int64_t token) { visit(w, token, taps[w]++); });
  }
  T weight_at(int64_t out, int64_t in, int64_t tap) const {
    return weight[(out * dim + in) * windows.step.size() + tap];
  }
};

// The scaled output of the convolution [m, d].
template <class T>
std::vector<T> sample(const LandmarkCase<T>& c, const std::vector<T>& q) {
  std::vector<T> sampled(c.windows.count() * c.dim);
  c.for_each_tap([&](int64_t w, int64_t token, int64_t tap) {
    for (int64_t out = 0; out < c.dim; ++out) {
      for (int64_t in = 0; in < c.dim; ++in) {
        sampled[w * c.dim + out] += c.scale * c.weight_at(out, in, tap) * q[token * c.dim + in];
      }
    }
  });
  return sampled;
}

template <class T>
std::vector<T> landmark_conv(const LandmarkCase<T>& c, const std::vector<T>& q) {
  std::vector<T> rows = sample(c, q);
  for (int64_t w = 0; w < c.windows.count(); ++w) {
    T* row = &rows[w * c.dim];
    layer_norm_row(c.dim, row, c.gamma.data(), c.beta.data(), c.epsilon, row);
    for (int64_t i = 0; i < c.dim; ++i) row[i] = gelu(GeluForm::kErf, row[i]);
  }
  return rows;
}

template <class T>
struct LandmarkGradients {
  std::vector<T> q, weight, gamma, beta;  // weight as stored
};

template <class T>
LandmarkGradients<T> landmark_conv_backward(const LandmarkCase<T>& c, const std::vector<T>& q,
                                            const std::vector<T>& grad_landmarks) {
  const int64_t d = c.dim;
  const std::vector<T> sampled = sample(c, q);
  LandmarkGradients<T> grad{std::vector<T>(q.size()), std::vector<T>(c.weight.size()),
                            std::vector<T>(d), std::vector<T>(d)};
  std::vector<T> grad_sampled(sampled.size()), normed(d), grad_normed(d);
  for (int64_t w = 0; w < c.windows.count(); ++w) {
    const T* row = &sampled[w * d];
    layer_norm_row(d, row, c.gamma.data(), c.beta.data(), c.epsilon, normed.data());
    for (int64_t i = 0; i < d; ++i) {
      grad_normed[i] = grad_landmarks[w * d + i] * gelu_slope(GeluForm::kErf, normed[i]);
    }
    layer_norm_row_backward(d, row, c.gamma.data(), c.epsilon, grad_normed.data(),
                            &grad_sampled[w * d], grad.gamma.data(), grad.beta.data());
  }
  c.for_each_tap([&](int64_t w, int64_t token, int64_t tap) {
    for (int64_t out = 0; out < d; ++out) {
      const T g = c.scale * grad_sampled[w * d + out];
      for (int64_t in = 0; in < d; ++in) {
        grad.q[token * d + in] += g * c.weight_at(out, in, tap);
        grad.weight[(out * d + in) * c.windows.step.size() + tap] += g * q[token * d + in];
      }
    }
  });
  return grad;
}

}  // namespace soft::plain
