#include "kernels/int8_gemm.h"

#include <algorithm>
#include <cstring>

#include "kernels/int8_layout.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/int8_gemm.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "hwy/highway.h"
#include "kernels/int8_lane-inl.h"
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace soft {
namespace HWY_NAMESPACE {
namespace {

HWY_INLINE int32_t four_bytes(const uint8_t* p) {
  int32_t four;
  std::memcpy(&four, p, sizeof four);
  return four;
}

// The weights of a tile: vectors of columns, of one panel or of neighbouring ones.
template <class Lane>
struct Factors {
  const int8_t* data;
  int64_t panel;  // bytes

  HWY_INLINE typename Lane::Vec load(int64_t step, int v) const {
    const int column = v * Lane::kColumns;
    return Lane::load(data + column / kInt8Columns * panel +
                      (step * kInt8Columns + column % kInt8Columns) * kInt8Step);
  }
};

template <class Lane, int kRows, int kVecs>
struct Sums {
  typename Lane::Vec sum[kRows][kVecs];
};

// One step, added to 32 bits at once.
template <class Lane, int kRows, int kVecs>
HWY_INLINE void add_dots(const uint8_t* const* a, int64_t k, const Factors<Lane>& w, int64_t step,
                         Sums<Lane, kRows, kVecs>& sums) {
  using Vec = typename Lane::Vec;
  Vec factor[kVecs];
  HWY_UNROLL(8)
  for (int v = 0; v < kVecs; ++v) factor[v] = w.load(step, v);
  HWY_UNROLL(12)
  for (int r = 0; r < kRows; ++r) {
    const Vec four = Lane::spread(four_bytes(a[r] + k));
    HWY_UNROLL(8)
    for (int v = 0; v < kVecs; ++v) {
      sums.sum[r][v] = Lane::add_dot(sums.sum[r][v], four, factor[v]);
    }
  }
}

// kDepth steps are added in 16 bits before they are widened.
template <int kDepth, class Lane, int kRows, int kVecs>
HWY_INLINE void add_steps(const uint8_t* const* a, int64_t k, const Factors<Lane>& w, int64_t step,
                          Sums<Lane, kRows, kVecs>& sums) {
  using Vec = typename Lane::Vec;
  Vec factor[kDepth][kVecs];
  HWY_UNROLL(8)
  for (int q = 0; q < kDepth; ++q) {
    HWY_UNROLL(8)
    for (int v = 0; v < kVecs; ++v) factor[q][v] = w.load(step + q, v);
  }
  HWY_UNROLL(12)
  for (int r = 0; r < kRows; ++r) {
    Vec part[kVecs];
    HWY_UNROLL(8)
    for (int q = 0; q < kDepth; ++q) {
      const Vec four = Lane::spread(four_bytes(a[r] + k + q * kInt8Step));
      HWY_UNROLL(8)
      for (int v = 0; v < kVecs; ++v) {
        const Vec pairs = Lane::pairs(four, factor[q][v]);
        part[v] = q == 0 ? pairs : Lane::add16(part[v], pairs);
      }
    }
    HWY_UNROLL(8)
    for (int v = 0; v < kVecs; ++v) {
      sums.sum[r][v] = Lane::add32(sums.sum[r][v], Lane::widen(part[v]));
    }
  }
}

// a = 2·(a / 2) + a mod 2: products of at most 127, and of at most 1, never fill 16 bits.
template <class Lane, int kRows, int kVecs>
HWY_INLINE void add_split(const uint8_t* const* a, int64_t k, const Factors<Lane>& w, int64_t step,
                          Sums<Lane, kRows, kVecs>& sums) {
  using Vec = typename Lane::Vec;
  for (int r = 0; r < kRows; ++r) {
    const int32_t four = four_bytes(a[r] + k);
    const Vec half = Lane::spread((four >> 1) & 0x7f7f7f7f), bit = Lane::spread(four & 0x01010101);
    for (int v = 0; v < kVecs; ++v) {
      const Vec factor = w.load(step, v);
      const Vec wide = Lane::widen(Lane::pairs(half, factor));
      const Vec rest = Lane::widen(Lane::pairs(bit, factor));
      sums.sum[r][v] = Lane::add32(sums.sum[r][v], Lane::add32(rest, Lane::add32(wide, wide)));
    }
  }
}

template <int kDepth, class Lane, int kRows, int kVecs>
HWY_INLINE Sums<Lane, kRows, kVecs> multiply(const Int8Shape& shape, const ByteRows& a,
                                             int64_t first, const Factors<Lane>& w) {
  Sums<Lane, kRows, kVecs> sums;
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVecs; ++v) sums.sum[r][v] = Lane::zero();
  }
  constexpr int64_t kSteps = Lane::kDots ? 1 : std::max(kDepth, 1);
  int64_t step = 0;
  for (int64_t s = 0; s < shape.segments; ++s) {
    const uint8_t* row[kRows];
    for (int r = 0; r < kRows; ++r) row[r] = a.row(first + r) + s * a.segment;
    for (int64_t k = 0; k < int8_padded_inner(shape); k += kSteps * kInt8Step, step += kSteps) {
      if constexpr (Lane::kDots) {
        add_dots(row, k, w, step, sums);
      } else if constexpr (kDepth == 0) {
        add_split(row, k, w, step, sums);
      } else {
        add_steps<kDepth>(row, k, w, step, sums);
      }
    }
  }
  return sums;
}

struct Target {
  Int8Weights weights;  // from the tile's first column and row on
  int64_t cols;         // up to the tile's
};

// y = scale∘sums + bias, a vector of row r.
template <class D>
HWY_INLINE void finish(D d, const Target& target, hn::Vec<hn::RebindToSigned<D>> sums, int64_t r,
                       int64_t j, float* y) {
  const Int8Weights& weights = target.weights;
  auto scale = hn::LoadU(d, weights.scale + j);
  if (weights.scales != nullptr) {
    const hn::RebindToSigned<D> di;
    const ByteScale& row = weights.scales[r];
    sums = hn::Sub(sums, hn::Mul(hn::Set(di, row.zero), hn::LoadU(di, weights.sums + j)));
    scale = hn::Mul(scale, hn::Set(d, row.scale));
  }
  auto value = hn::MulAdd(hn::ConvertTo(d, sums), scale, hn::LoadU(d, weights.bias + j));
  if (weights.relu) value = hn::Max(value, hn::Zero(d));
  hn::StoreU(value, d, y + j);
}

template <class Lane, int kRows, int kVecs>
HWY_INLINE void finish_tile(const Sums<Lane, kRows, kVecs>& sums, const Target& target,
                            const Rows& y) {
  constexpr int64_t kWidth = kVecs * Lane::kColumns;
  const hn::ScalableTag<float> whole;
  const hn::ScalableTag<int32_t> ints;
  if constexpr (Lane::kColumns > 1) {
    if (target.cols == kWidth) {
      HWY_UNROLL(12)
      for (int r = 0; r < kRows; ++r) {
        HWY_UNROLL(8)
        for (int v = 0; v < kVecs; ++v) {
          finish(whole, target, hn::Vec<decltype(ints)>{sums.sum[r][v]}, r, v * Lane::kColumns,
                 y.row(r));
        }
      }
      return;
    }
  }
  HWY_ALIGN int32_t line[kWidth];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVecs; ++v) Lane::store(sums.sum[r][v], line + v * Lane::kColumns);
    for_each_column(target.cols, [&](auto d, int64_t j) HWY_ATTR {
      const hn::RebindToSigned<decltype(d)> di;
      finish(d, target, hn::LoadU(di, line + j), r, j, y.row(r));
    });
  }
}

// A tile of `rows` <= kRows rows.
template <int kDepth, class Lane, int kRows, int kVecs>
HWY_INLINE void run_tile(const Int8Shape& shape, int64_t first, int64_t rows, const ByteRows& a,
                         const Factors<Lane>& w, const Target& target, const Rows& y) {
  if (rows == kRows) {
    finish_tile(multiply<kDepth, Lane, kRows, kVecs>(shape, a, first, w), target, y);
  } else if constexpr (kRows > 1) {
    run_tile<kDepth, Lane, kRows - 1, kVecs>(shape, first, rows, a, w, target, y);
  }
}

// Columns [j, j + kVecs vectors) of all rows.
template <int kDepth, class Lane, int kVecs>
void run_columns(const Int8Shape& shape, int64_t first, int64_t rows, const ByteRows& a,
                 const Int8Weights& weights, int64_t j, const Rows& y) {
  const int64_t panel = shape.segments * int8_padded_inner(shape) * kInt8Columns;
  const Factors<Lane> w{weights.packed + j / kInt8Columns * panel + j % kInt8Columns * kInt8Step,
                        panel};
  Target target{weights, std::min<int64_t>(kVecs * Lane::kColumns, shape.cols - j)};
  target.weights.scale += j;
  target.weights.bias += j;
  if (weights.scales != nullptr) {
    target.weights.sums += j;
    target.weights.scales += first;
  }
  for (int64_t i = 0; i < rows; i += Lane::kRows) {
    const int64_t count = std::min<int64_t>(Lane::kRows, rows - i);
    run_tile<kDepth, Lane, Lane::kRows, kVecs>(shape, first + i, count, a, w, target,
                                               {y.row(i) + j, y.stride});
    if (weights.scales != nullptr) target.weights.scales += count;
  }
}

// Panels are filled up to their last column; behind the last one there is nothing to read, so that
// a tile of several takes whole ones only.
template <int kDepth, class Lane>
void product(const Int8Shape& shape, int64_t first, int64_t rows, const ByteRows& a,
             const Int8Weights& weights, const Rows& y) {
  constexpr int64_t kTile = Lane::kVecs * Lane::kColumns;
  constexpr int kInPanel = std::min<int64_t>(Lane::kVecs, kInt8Columns / Lane::kColumns);
  const int64_t padded_cols = (shape.cols + kInt8Columns - 1) / kInt8Columns * kInt8Columns;
  int64_t j = 0;
  for (; j + kTile <= padded_cols && j < shape.cols; j += kTile) {
    run_columns<kDepth, Lane, Lane::kVecs>(shape, first, rows, a, weights, j, y);
  }
  for (; j < shape.cols; j += kInPanel * Lane::kColumns) {
    run_columns<kDepth, Lane, kInPanel>(shape, first, rows, a, weights, j, y);
  }
}

void any_product(const Int8Shape& shape, int64_t first, int64_t rows, const ByteRows& a,
                 const Int8Weights& weights, const Rows& y) {
  if (weights.depth == kInt8Dots && has_dots()) {
    return product<0, DotLane>(shape, first, rows, a, weights, y);
  }
  if (weights.depth == 2) return product<2, ByteLane>(shape, first, rows, a, weights, y);
  if (weights.depth == 1) return product<1, ByteLane>(shape, first, rows, a, weights, y);
  product<0, ByteLane>(shape, first, rows, a, weights, y);
}

bool dots() { return has_dots(); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace soft
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace soft {

HWY_EXPORT(dots);

bool int8_has_dots() { return HWY_DYNAMIC_DISPATCH(dots)(); }

HWY_EXPORT(any_product);

void int8_gemm(const Int8Shape& shape, int64_t first, int64_t rows, const ByteRows& a,
               const Int8Weights& weights, Rows y) {
  HWY_DYNAMIC_DISPATCH(any_product)(shape, first, rows, a, weights, y);
}

}  // namespace soft
#endif
