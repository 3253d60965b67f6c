#include "kernels/layer_norm.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/layer_norm.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace soft {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kBlock = 8;  // rows whose divisions and roots overlap

// y = x (+ residual), kept in sum too if wanted; returns the mean.
float add_rows(int64_t dim, const float* x, const float* residual, float* y, float* sum) {
  ColumnSum total;
  for_each_column(dim, [&](auto d, int64_t j) HWY_ATTR {
    auto s = hn::LoadU(d, x + j);
    if (residual != nullptr) s = hn::Add(s, hn::LoadU(d, residual + j));
    if (sum != nullptr) hn::StoreU(s, d, sum + j);
    hn::StoreU(s, d, y + j);
    total.add(d, s);
  });
  return total.total() / static_cast<float>(dim);
}

// About the mean, since a pass over plain squares would cancel.
float rstd_of(const LayerNorm& norm, const float* y, float mean) {
  ColumnSum squares;
  for_each_column(norm.dim, [&](auto d, int64_t j) HWY_ATTR {
    const auto centred = hn::Sub(hn::LoadU(d, y + j), hn::Set(d, mean));
    squares.add(d, hn::Mul(centred, centred));
  });
  return 1 / std::sqrt(squares.total() / static_cast<float>(norm.dim) + norm.epsilon);
}

void normalise(const LayerNorm& norm, float mean, float rstd, float* y) {
  for_each_column(norm.dim, [&](auto d, int64_t j) HWY_ATTR {
    const auto centred = hn::Sub(hn::LoadU(d, y + j), hn::Set(d, mean));
    const auto xhat = hn::Mul(centred, hn::Set(d, rstd));
    hn::StoreU(hn::MulAdd(xhat, hn::LoadU(d, norm.gamma + j), hn::LoadU(d, norm.beta + j)), d,
               y + j);
  });
}

// A few rows pass three times through the first-level cache.
void forward(const LayerNorm& norm, ConstRows x, ConstRows residual, Rows y, Rows sum,
             float* moments) {
  float mean[kBlock], rstd[kBlock];
  for (int64_t row = 0; row < norm.rows; row += kBlock) {
    const int64_t count = std::min(kBlock, norm.rows - row);
    for (int64_t i = 0; i < count; ++i) {
      mean[i] = add_rows(norm.dim, x.row(row + i), residual ? residual.row(row + i) : nullptr,
                         y.row(row + i), sum ? sum.row(row + i) : nullptr);
    }
    for (int64_t i = 0; i < count; ++i) rstd[i] = rstd_of(norm, y.row(row + i), mean[i]);
    for (int64_t i = 0; i < count; ++i) normalise(norm, mean[i], rstd[i], y.row(row + i));
    for (int64_t i = 0; moments != nullptr && i < count; ++i) {
      moments[2 * (row + i)] = mean[i];
      moments[2 * (row + i) + 1] = rstd[i];
    }
  }
}

void backward_row(const LayerNorm& norm, const LayerNormGradient& gradient, int64_t i) {
  const float *s = gradient.sum.row(i), *incoming = gradient.y.row(i);
  const float mean = gradient.moments[2 * i], rstd = gradient.moments[2 * i + 1];
  ColumnSum sum_g, sum_gx;
  for_each_column(norm.dim, [&](auto d, int64_t j) HWY_ATTR {
    const auto dy = hn::LoadU(d, incoming + j);
    const auto centred = hn::Sub(hn::LoadU(d, s + j), hn::Set(d, mean));
    const auto xhat = hn::Mul(centred, hn::Set(d, rstd));
    const auto g = hn::Mul(dy, hn::LoadU(d, norm.gamma + j));
    sum_g.add(d, g);
    sum_gx.add(d, hn::Mul(g, xhat));
    const auto gamma = hn::LoadU(d, gradient.gamma + j), beta = hn::LoadU(d, gradient.beta + j);
    hn::StoreU(hn::MulAdd(dy, xhat, gamma), d, gradient.gamma + j);
    hn::StoreU(hn::Add(dy, beta), d, gradient.beta + j);
  });
  const float mean_g = sum_g.total() / static_cast<float>(norm.dim);
  const float mean_gx = sum_gx.total() / static_cast<float>(norm.dim);
  for_each_column(norm.dim, [&](auto d, int64_t j) HWY_ATTR {
    const auto centred = hn::Sub(hn::LoadU(d, s + j), hn::Set(d, mean));
    const auto xhat = hn::Mul(centred, hn::Set(d, rstd));
    const auto g = hn::Mul(hn::LoadU(d, incoming + j), hn::LoadU(d, norm.gamma + j));
    const auto rest = hn::NegMulAdd(xhat, hn::Set(d, mean_gx), hn::Sub(g, hn::Set(d, mean_g)));
    hn::StoreU(hn::Mul(rest, hn::Set(d, rstd)), d, gradient.x.row(i) + j);
  });
}

void backward(const LayerNorm& norm, const LayerNormGradient& gradient) {
  for (int64_t i = 0; i < norm.rows; ++i) backward_row(norm, gradient, i);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace soft
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace soft {

HWY_EXPORT(forward);
HWY_EXPORT(backward);

void layer_norm(const LayerNorm& norm, ConstRows x, ConstRows residual, Rows y, Rows sum,
                float* moments) {
  HWY_DYNAMIC_DISPATCH(forward)(norm, x, residual, y, sum, moments);
}

void layer_norm_backward(const LayerNorm& norm, const LayerNormGradient& gradient) {
  HWY_DYNAMIC_DISPATCH(backward)(norm, gradient);
}

}  // namespace soft
#endif
