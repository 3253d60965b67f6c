// Elementary functions on vectors, compiled once per instruction set.
#if defined(SOFT_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SOFT_KERNELS_MATH_INL_H_
#undef SOFT_KERNELS_MATH_INL_H_
#else
#define SOFT_KERNELS_MATH_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace soft {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// c0 + c1·x + … + c5·x⁵ in a tree, which waits for fewer results than Horner's chain.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V polynomial(D d, V x, V square, float c0, float c1, float c2, float c3, float c4,
                        float c5) {
  const V low = hn::MulAdd(hn::Set(d, c1), x, hn::Set(d, c0));
  const V middle = hn::MulAdd(hn::Set(d, c3), x, hn::Set(d, c2));
  const V high = hn::MulAdd(hn::Set(d, c5), x, hn::Set(d, c4));
  return hn::MulAdd(hn::MulAdd(high, square, middle), square, low);
}

// e^x for x <= 0, within 2e-7 of the value. 0 below -87.3, where floats turn denormal (and slow);
// NaN stays. x = n·ln 2 + r with |r| <= ½ ln 2: a polynomial for e^r, and n added to its exponent
// bits.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_nonpositive(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V lowest = hn::Set(d, -87.3f);
  const V clamped = hn::Max(lowest, x);
  // Adding 1.5·2^23 rounds to the nearest integer and leaves it in the lowest bits.
  const V magic = hn::Set(d, 12582912.0f);
  const V shifted = hn::MulAdd(clamped, hn::Set(d, 1.44269504f), magic);
  const V n = hn::Sub(shifted, magic);
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), clamped);  // ln 2 in two parts
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  const V square = hn::Mul(r, r);
  V p = polynomial(d, r, square, 5.0000001201e-1f, 1.6666665459e-1f, 4.1665795894e-2f,
                   8.3334519073e-3f, 1.3981999507e-3f, 1.9875691500e-4f);
  p = hn::Add(hn::MulAdd(p, square, r), hn::Set(d, 1.0f));
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(di, shifted));
  const V y = hn::BitCast(d, hn::Add(hn::BitCast(di, p), exponent));
  return hn::IfThenZeroElse(hn::Lt(x, lowest), y);
}

// Phi(-a), the upper tail of the normal distribution, for a >= 0 and e = exp(-½a²): a polynomial in
// 1 / (1 + 0.4a), fitted to within 3e-8.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V normal_tail(D d, V a, V e) {
  const V one = hn::Set(d, 1.0f);
  const V t = hn::Div(one, hn::MulAdd(hn::Set(d, 0.4f), a, one));
  const V p = polynomial(d, t, hn::Mul(t, t), 0.1569332927f, 0.1871834546f, 0.01720442064f,
                         0.3344799876f, -0.2513349950f, 0.05553384870f);
  return hn::Mul(hn::Mul(p, t), e);
}

// Calls body(tag, j) for every whole vector of a row, then with a tag of one lane for each float
// that is left over.
template <class Body>
HWY_INLINE void for_each_column(int64_t count, const Body& body) {
  const hn::ScalableTag<float> whole;
  const hn::CappedTag<float, 1> single;
  const auto step = static_cast<int64_t>(hn::Lanes(whole));
  int64_t j = 0;
  for (; j + step <= count; j += step) body(whole, j);
  for (; j < count; ++j) body(single, j);
}

// A sum over the columns of a row, in an order that depends only on their number.
class ColumnSum {
  using Whole = hn::ScalableTag<float>;

 public:
  ColumnSum() : whole_(hn::Zero(Whole())) {}

  template <class D, class V = hn::Vec<D>>
  HWY_INLINE void add(D /*tag*/, V v) {
    if constexpr (hn::MaxLanes(D()) == hn::MaxLanes(Whole())) {
      whole_ = hn::Add(whole_, v);
    } else {
      rest_ += hn::GetLane(v);
    }
  }
  HWY_INLINE float total() const { return hn::GetLane(hn::SumOfLanes(Whole(), whole_)) + rest_; }

 private:
  hn::Vec<Whole> whole_;
  float rest_ = 0;
};

HWY_INLINE float square_sum(const float* x, int64_t count) {
  ColumnSum sum;
  for_each_column(count, [&](auto d, int64_t j) HWY_ATTR {
    const auto v = hn::LoadU(d, x + j);
    sum.add(d, hn::Mul(v, v));
  });
  return sum.total();
}

}  // namespace HWY_NAMESPACE
}  // namespace soft
HWY_AFTER_NAMESPACE();

#endif
