#include "kernels/rows.h"
#include "kernels/soft_tile.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/soft_weigh.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "kernels/gemm-inl.h"
#include "kernels/math-inl.h"

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
               const float touching = t.touching == nullptr ? 1 : t.touching[row + i];
               const auto equal = hn::Eq(kernel, hn::Set(d, touching));
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

void row_sums(int64_t rows, int64_t landmarks, const float* k, const float* u,
              const RowSums& sums) {
  const FloatTag d;
  const int64_t width = padded(landmarks), used = vectors(landmarks) * lanes();
  for (int64_t i = 0; i < rows; ++i) {
    FloatVec dot = hn::Zero(d), reach = hn::Zero(d);
    for (int64_t j = 0; j < used; j += lanes()) {
      const FloatVec value = hn::LoadU(d, k + i * width + j);
      dot = hn::MulAdd(value, hn::LoadU(d, u + j), dot);
      reach = hn::Add(reach, value);
    }
    sums.dots[i] = hn::GetLane(hn::SumOfLanes(d, dot));
    sums.reach[i] = hn::GetLane(hn::SumOfLanes(d, reach));
  }
}

void row_dots(int64_t rows, int64_t dim, ConstRows a, ConstRows b, float* dots) {
  for (int64_t i = 0; i < rows; ++i) {
    ColumnSum sum;
    for_each_column(dim, [&](auto d, int64_t j) HWY_ATTR {
      sum.add(d, hn::Mul(hn::LoadU(d, a.row(i) + j), hn::LoadU(d, b.row(i) + j)));
    });
    dots[i] = sum.total();
  }
}

void column_sums(int64_t rows, int64_t landmarks, const float* k, const float* weights,
                 float* sums) {
  const FloatTag d;
  const int64_t width = padded(landmarks), used = vectors(landmarks) * lanes();
  for (int64_t j = 0; j < used; j += lanes()) {
    FloatVec sum = hn::LoadU(d, sums + j);
    for (int64_t i = 0; i < rows; ++i) {
      const FloatVec weight = hn::Set(d, weights == nullptr ? 1.0f : weights[i]);
      sum = hn::MulAdd(weight, hn::LoadU(d, k + i * width + j), sum);
    }
    hn::StoreU(sum, d, sums + j);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace soft
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace soft {

HWY_EXPORT(weigh);
HWY_EXPORT(row_sums);
HWY_EXPORT(row_dots);
HWY_EXPORT(column_sums);

void weigh_tile(const WeighTile& tile) { HWY_DYNAMIC_DISPATCH(weigh)(tile); }

void sum_rows(int64_t rows, int64_t landmarks, const float* k, const float* u,
              const RowSums& sums) {
  HWY_DYNAMIC_DISPATCH(row_sums)(rows, landmarks, k, u, sums);
}

void dot_rows(int64_t rows, int64_t dim, ConstRows a, ConstRows b, float* dots) {
  HWY_DYNAMIC_DISPATCH(row_dots)(rows, dim, a, b, dots);
}

void add_columns(int64_t rows, int64_t landmarks, const float* k, const float* weights,
                 float* sums) {
  HWY_DYNAMIC_DISPATCH(column_sums)(rows, landmarks, k, weights, sums);
}

}  // namespace soft
#endif
