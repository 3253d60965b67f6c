#include "kernels/rows.h"
#include "kernels/soft_tile.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/soft_weigh.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "kernels/gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace soft {
namespace HWY_NAMESPACE {
namespace {

void weigh(const WeighTile& t) {
  const FloatTag d;
  const int64_t width = padded(t.landmarks), used = vectors(t.landmarks) * lanes();
  multiply(t.rows, vectors(t.landmarks), t.inner, {t.left, t.inner, 1}, {t.right, width},
           [&](int64_t row, int64_t column, const auto& tile) HWY_ATTR {
             tile.visit([&](int64_t i, int64_t j, FloatVec grad_k) HWY_ATTR {
               const int64_t at = (row + i) * width + column + j;
               const FloatVec kernel = hn::LoadU(d, t.k + at);
               const auto equal = hn::Eq(kernel, hn::Set(d, 1.0f));
               hn::StoreU(hn::IfThenZeroElse(equal, hn::Mul(kernel, grad_k)), d, t.b + at);
             });
           });
  for (int64_t i = 0; i < t.rows; ++i) {
    FloatVec sum = hn::Zero(d);
    for (int64_t j = 0; j < used; j += lanes()) {
      const FloatVec value = hn::LoadU(d, t.b + i * width + j);
      sum = hn::Add(sum, value);
      hn::StoreU(hn::Add(hn::LoadU(d, t.column_sums + j), value), d, t.column_sums + j);
    }
    t.row_sums[i] = hn::GetLane(hn::SumOfLanes(d, sum));
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace soft
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace soft {

HWY_EXPORT(weigh);

void weigh_tile(const WeighTile& tile) { HWY_DYNAMIC_DISPATCH(weigh)(tile); }

}  // namespace soft
#endif
