// GELU on vectors, compiled once per instruction set.
#if defined(SOFT_KERNELS_GELU_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SOFT_KERNELS_GELU_INL_H_
#undef SOFT_KERNELS_GELU_INL_H_
#else
#define SOFT_KERNELS_GELU_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace soft {
namespace HWY_NAMESPACE {

constexpr float kCubic = 0.044715f;
constexpr float kTwiceRoot = 1.5957691216f;      // 2·sqrt(2/pi)
constexpr float kDensityAtZero = 0.3989422804f;  // 1/sqrt(2·pi)

// What both forms share: gelu(x) = max(x, 0) - |x|·tail and
// gelu'(x) = (x < 0 ? tail : 1 - tail) + bump, where tail and the odd bump depend on the form.
template <class V>
struct Parts {
  V tail;
  V bump;
};

struct ErfForm {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE Parts<V> parts(D d, V x) {
    const V a = hn::Abs(x);
    const V e = exp_nonpositive(d, hn::Mul(hn::Mul(a, a), hn::Set(d, -0.5f)));
    return {normal_tail(d, a, e), hn::Mul(hn::Mul(x, e), hn::Set(d, kDensityAtZero))};
  }
};

struct TanhForm {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE Parts<V> parts(D d, V x) {
    const V one = hn::Set(d, 1.0f), square = hn::Mul(x, x);
    const V a = hn::Mul(hn::Abs(x), hn::Set(d, -kTwiceRoot));
    const V e = exp_nonpositive(d, hn::Mul(a, hn::MulAdd(hn::Set(d, kCubic), square, one)));
    const V tail = hn::Div(e, hn::Add(one, e));
    const V steep = hn::MulAdd(hn::Set(d, 3 * kCubic), square, one);
    const V slope = hn::Mul(hn::Mul(x, steep), hn::Set(d, kTwiceRoot));
    return {tail, hn::Mul(slope, hn::Mul(tail, hn::Sub(one, tail)))};
  }
};

template <class Form, class D, class V = hn::Vec<D>>
HWY_INLINE V value_of(D d, V x) {
  const V tail = Form::parts(d, x).tail;
  return hn::NegMulAdd(hn::Abs(x), tail, hn::Max(x, hn::Zero(d)));
}

template <class D>
HWY_INLINE hn::Vec<D> biased(D d, const float* x, const float* bias, int64_t j) {
  const auto value = hn::LoadU(d, x + j);
  return bias == nullptr ? value : hn::Add(value, hn::LoadU(d, bias + j));
}

}  // namespace HWY_NAMESPACE
}  // namespace soft
HWY_AFTER_NAMESPACE();

#endif
