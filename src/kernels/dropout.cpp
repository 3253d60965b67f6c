#include "kernels/dropout.h"

#include "kernels/drop_rule.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dropout.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "hwy/highway.h"
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace soft {
namespace HWY_NAMESPACE {
namespace {

// `spread` of every lane.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V spread_lanes(D d, V x) {
  x = hn::Mul(hn::Xor(x, hn::ShiftRight<16>(x)), hn::Set(d, kSpread1));
  x = hn::Mul(hn::Xor(x, hn::ShiftRight<13>(x)), hn::Set(d, kSpread2));
  return hn::Xor(x, hn::ShiftRight<16>(x));
}

void drop_columns(const DropRule& rule, int64_t first, int64_t count, const float* in, float* out) {
  for_each_column(count, [&](auto d, int64_t j) HWY_ATTR {
    const hn::RebindToUnsigned<decltype(d)> du;
    const hn::RebindToSigned<decltype(d)> di;
    const auto column = hn::Iota(du, static_cast<uint32_t>(first + j));
    const auto place = hn::Add(hn::Set(du, rule.row), hn::Mul(hn::Set(du, kColumnStep), column));
    const auto drawn = hn::BitCast(di, hn::ShiftRight<8>(spread_lanes(du, place)));
    const auto gone = hn::Lt(drawn, hn::Set(di, static_cast<int32_t>(rule.dropped)));
    const auto kept = hn::Mul(hn::LoadU(d, in + j), hn::Set(d, rule.kept));
    hn::StoreU(hn::IfThenZeroElse(hn::RebindMask(d, gone), kept), d, out + j);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace soft
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace soft {

HWY_EXPORT(drop_columns);

void drop_row(const Dropout& dropout, int64_t row, int64_t first, int64_t count, const float* in,
              float* out) {
  HWY_DYNAMIC_DISPATCH(drop_columns)(drop_rule(dropout, row), first, count, in, out);
}

}  // namespace soft
#endif
