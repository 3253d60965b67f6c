#include "kernels/batch_norm.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/batch_norm.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace soft {
namespace HWY_NAMESPACE {
namespace {

// acc[j] += value(tag, row, j) for every channel j of every row.
template <class Value>
HWY_INLINE void add_up(int64_t rows, int64_t channels, float* acc, const Value& value) {
  std::fill_n(acc, channels, 0.0f);
  for (int64_t i = 0; i < rows; ++i) {
    for_each_column(channels, [&](auto d, int64_t j) HWY_ATTR {
      hn::StoreU(hn::Add(hn::LoadU(d, acc + j), value(d, i * channels + j, j)), d, acc + j);
    });
  }
}

void moments(int64_t rows, int64_t channels, const float* x, float* mean, float* squares) {
  add_up(rows, channels, mean,
         [&](auto d, int64_t at, int64_t /*j*/) HWY_ATTR { return hn::LoadU(d, x + at); });
  for (int64_t j = 0; j < channels; ++j) mean[j] /= static_cast<float>(rows);
  add_up(rows, channels, squares, [&](auto d, int64_t at, int64_t j) HWY_ATTR {
    const auto centred = hn::Sub(hn::LoadU(d, x + at), hn::LoadU(d, mean + j));
    return hn::Mul(centred, centred);
  });
}

template <class D>
HWY_INLINE hn::Vec<D> centred(D d, const BatchNormPoint& point, const float* x, int64_t at,
                              int64_t j) {
  return hn::Sub(hn::LoadU(d, x + at), hn::LoadU(d, point.mean + j));
}

template <class D>
HWY_INLINE hn::Vec<D> normalised(D d, const BatchNormPoint& point, const float* x, int64_t at,
                                 int64_t j) {
  return hn::MulAdd(centred(d, point, x, at, j), hn::LoadU(d, point.scale + j),
                    hn::LoadU(d, point.beta + j));
}

void forward(const BatchNormPoint& point, int64_t rows, const float* x, float* y) {
  for (int64_t i = 0; i < rows; ++i) {
    for_each_column(point.channels, [&](auto d, int64_t j) HWY_ATTR {
      const int64_t at = i * point.channels + j;
      hn::StoreU(hn::Max(normalised(d, point, x, at, j), hn::Zero(d)), d, y + at);
    });
  }
}

// What reaches the normalised value through the ReLU.
template <class D>
HWY_INLINE hn::Vec<D> through_relu(D d, const BatchNormPoint& point, const float* x,
                                   const float* grad_y, int64_t at, int64_t j) {
  const auto y = normalised(d, point, x, at, j);
  return hn::IfThenElseZero(hn::Gt(y, hn::Zero(d)), hn::LoadU(d, grad_y + at));
}

void sums(const BatchNormPoint& point, int64_t rows, const float* x, const float* grad_y,
          float* sum, float* product) {
  const auto channels = point.channels;
  add_up(rows, channels, sum, [&](auto d, int64_t at, int64_t j) HWY_ATTR {
    return through_relu(d, point, x, grad_y, at, j);
  });
  add_up(rows, channels, product, [&](auto d, int64_t at, int64_t j) HWY_ATTR {
    return hn::Mul(through_relu(d, point, x, grad_y, at, j), centred(d, point, x, at, j));
  });
}

void backward(const BatchNormPoint& point, int64_t rows, const float* x, const float* grad_y,
              const float* sum, const float* product, float* grad_x) {
  for (int64_t i = 0; i < rows; ++i) {
    for_each_column(point.channels, [&](auto d, int64_t j) HWY_ATTR {
      const int64_t at = i * point.channels + j;
      auto g = hn::Sub(through_relu(d, point, x, grad_y, at, j), hn::LoadU(d, sum + j));
      g = hn::NegMulAdd(centred(d, point, x, at, j), hn::LoadU(d, product + j), g);
      hn::StoreU(hn::Mul(g, hn::LoadU(d, point.scale + j)), d, grad_x + at);
    });
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace soft
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace soft {

HWY_EXPORT(moments);
HWY_EXPORT(forward);
HWY_EXPORT(sums);
HWY_EXPORT(backward);

void channel_moments(int64_t rows, int64_t channels, const float* x, float* mean, float* squares) {
  HWY_DYNAMIC_DISPATCH(moments)(rows, channels, x, mean, squares);
}

void batch_norm_relu(const BatchNormPoint& point, int64_t rows, const float* x, float* y) {
  HWY_DYNAMIC_DISPATCH(forward)(point, rows, x, y);
}

void batch_norm_sums(const BatchNormPoint& point, int64_t rows, const float* x, const float* grad_y,
                     float* sum, float* product) {
  HWY_DYNAMIC_DISPATCH(sums)(point, rows, x, grad_y, sum, product);
}

void batch_norm_backward(const BatchNormPoint& point, int64_t rows, const float* x,
                         const float* grad_y, const float* sum, const float* product,
                         float* grad_x) {
  HWY_DYNAMIC_DISPATCH(backward)(point, rows, x, grad_y, sum, product, grad_x);
}

}  // namespace soft
#endif
