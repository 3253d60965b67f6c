#include "kernels/quantize.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantize.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "hwy/highway.h"
#include "kernels/gelu-inl.h"
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace soft {
namespace HWY_NAMESPACE {
namespace {

// Clamped as floats, since a conversion to integers has no answer for what is too large.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void store_bytes(D d, V x, ByteScale scale, float inverse, uint8_t* bytes) {
  const hn::Rebind<uint8_t, D> bytes_tag;
  const V zero = hn::Set(d, static_cast<float>(scale.zero));
  const V shifted = hn::MulAdd(x, hn::Set(d, inverse), zero);
  const V clamped = hn::Min(hn::Max(shifted, hn::Zero(d)), hn::Set(d, 255.0f));
  hn::StoreU(hn::DemoteTo(bytes_tag, hn::NearestInt(clamped)), bytes_tag, bytes);
}

template <class Value>
HWY_INLINE void each_byte(ByteScale scale, int64_t rows, int64_t cols, const ConstRows& x,
                          uint8_t* bytes, int64_t stride, const Value& value) {
  const float inverse = 1 / scale.scale;
  for (int64_t i = 0; i < rows; ++i) {
    const float* in = x.row(i);
    uint8_t* out = bytes + i * stride;
    for_each_column(cols, [&](auto d, int64_t j) HWY_ATTR {
      store_bytes(d, value(d, in, j), scale, inverse, out + j);
    });
  }
}

void plain_bytes(ByteScale scale, int64_t rows, int64_t cols, const ConstRows& x, uint8_t* bytes,
                 int64_t stride) {
  each_byte(scale, rows, cols, x, bytes, stride,
            [](auto d, const float* in, int64_t j) HWY_ATTR { return hn::LoadU(d, in + j); });
}

template <class Form>
void gelu_form_bytes(ByteScale scale, const Gelu& shape, const ConstRows& x, uint8_t* bytes,
                     int64_t stride) {
  each_byte(scale, shape.rows, shape.cols, x, bytes, stride,
            [&](auto d, const float* in, int64_t j)
                HWY_ATTR { return value_of<Form>(d, biased(d, in, shape.bias, j)); });
}

void gelu_bytes(ByteScale scale, const Gelu& shape, const ConstRows& x, uint8_t* bytes,
                int64_t stride) {
  shape.form == GeluForm::kErf ? gelu_form_bytes<ErfForm>(scale, shape, x, bytes, stride)
                               : gelu_form_bytes<TanhForm>(scale, shape, x, bytes, stride);
}

// Of the values and 0. Two vectors at a time, so that none waits for the one before it.
template <class Value>
HWY_INLINE ByteScale row_scale(const float* x, int64_t cols, const Value& value) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const auto step = static_cast<int64_t>(hn::Lanes(d));
  auto low0 = hn::Zero(d), low1 = low0, high0 = low0, high1 = low0;
  int64_t j = 0;
  for (; j + 2 * step <= cols; j += 2 * step) {
    const auto v0 = value(d, x, j), v1 = value(d, x, j + step);
    low0 = hn::Min(v0, low0), low1 = hn::Min(v1, low1);
    high0 = hn::Max(v0, high0), high1 = hn::Max(v1, high1);
  }
  float low = hn::GetLane(hn::MinOfLanes(d, hn::Min(low0, low1)));
  float high = hn::GetLane(hn::MaxOfLanes(d, hn::Max(high0, high1)));
  for (; j < cols; ++j) {
    const float last = hn::GetLane(value(one, x, j));
    low = std::min(low, last), high = std::max(high, last);
  }
  return byte_scale(low, high);
}

template <class Value>
HWY_INLINE void each_row(int64_t rows, int64_t cols, const ConstRows& x, uint8_t* bytes,
                         int64_t stride, ByteScale* scales, const Value& value) {
  for (int64_t i = 0; i < rows; ++i) {
    scales[i] = row_scale(x.row(i), cols, value);
    each_byte(scales[i], 1, cols, {x.row(i), cols}, bytes + i * stride, stride, value);
  }
}

void row_bytes(int64_t rows, int64_t cols, const ConstRows& x, const float* mean, uint8_t* bytes,
               int64_t stride, ByteScale* scales) {
  const auto as_is = [](auto d, const float* in, int64_t j)
                         HWY_ATTR { return hn::LoadU(d, in + j); };
  const auto centred = [mean](auto d, const float* in, int64_t j) HWY_ATTR {
    return hn::Sub(hn::LoadU(d, in + j), hn::LoadU(d, mean + j));
  };
  mean == nullptr ? each_row(rows, cols, x, bytes, stride, scales, as_is)
                  : each_row(rows, cols, x, bytes, stride, scales, centred);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace soft
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace soft {

ByteScale byte_scale(float lowest, float highest) {
  if (highest == lowest) return {};
  const float scale = (highest - lowest) / 255;
  const float zero = std::nearbyint(-lowest / scale);
  return {scale, static_cast<int32_t>(std::min(std::max(zero, 0.0f), 255.0f))};
}

HWY_EXPORT(plain_bytes);
HWY_EXPORT(gelu_bytes);
HWY_EXPORT(row_bytes);

void quantize(ByteScale scale, int64_t rows, int64_t cols, ConstRows x, uint8_t* bytes,
              int64_t stride) {
  HWY_DYNAMIC_DISPATCH(plain_bytes)(scale, rows, cols, x, bytes, stride);
}

void quantize_gelu(ByteScale scale, const Gelu& shape, ConstRows x, uint8_t* bytes,
                   int64_t stride) {
  HWY_DYNAMIC_DISPATCH(gelu_bytes)(scale, shape, x, bytes, stride);
}

void quantize_rows(int64_t rows, int64_t cols, ConstRows x, const float* mean, uint8_t* bytes,
                   int64_t stride, ByteScale* scales) {
  HWY_DYNAMIC_DISPATCH(row_bytes)(rows, cols, x, mean, bytes, stride, scales);
}

}  // namespace soft
#endif
