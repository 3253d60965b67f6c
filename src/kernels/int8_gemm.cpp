#include "kernels/int8_gemm.h"

#include <algorithm>
#include <cstring>

#ifndef SOFT_KERNELS_INT8_LAYOUT_
#define SOFT_KERNELS_INT8_LAYOUT_
namespace soft {
namespace {

constexpr int64_t kStep = 4;      // inner indices side by side in the packed weights
constexpr int64_t kColumns = 16;  // of a packed panel

// Every segment of the packed weights is a whole number of the deepest groups, filled up with 0.
constexpr int64_t padded_inner(const Int8Shape& shape) {
  constexpr int64_t kGroup = kStep * kInt8Deepest;
  return (shape.inner + kGroup - 1) / kGroup * kGroup;
}

}  // namespace
}  // namespace soft
#endif

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

using Vec = ByteLane::Vec;
constexpr int kLaneColumns = ByteLane::kColumns;

HWY_INLINE int32_t four_bytes(const uint8_t* p) {
  int32_t four;
  std::memcpy(&four, p, sizeof four);
  return four;
}

// A tile of sums, and one group of inner indices added to it.
template <int kRows, int kVecs>
struct Sums {
  Vec sum[kRows][kVecs];
};

// `depth` steps are added in 16 bits before they are widened.
template <int kDepth, int kRows, int kVecs>
HWY_INLINE void add_steps(const uint8_t* const* a, int64_t k, const int8_t* w,
                          Sums<kRows, kVecs>& sums) {
  Vec factor[kDepth][kVecs];
  HWY_UNROLL(8)
  for (int q = 0; q < kDepth; ++q) {
    HWY_UNROLL(8)
    for (int v = 0; v < kVecs; ++v) {
      factor[q][v] = ByteLane::load(w + q * kStep * kColumns + v * kStep * kLaneColumns);
    }
  }
  HWY_UNROLL(12)
  for (int r = 0; r < kRows; ++r) {
    Vec part[kVecs];
    HWY_UNROLL(8)
    for (int q = 0; q < kDepth; ++q) {
      const Vec four = ByteLane::spread(four_bytes(a[r] + k + q * kStep));
      HWY_UNROLL(8)
      for (int v = 0; v < kVecs; ++v) {
        const Vec pairs = ByteLane::pairs(four, factor[q][v]);
        part[v] = q == 0 ? pairs : ByteLane::add16(part[v], pairs);
      }
    }
    HWY_UNROLL(8)
    for (int v = 0; v < kVecs; ++v) {
      sums.sum[r][v] = ByteLane::add32(sums.sum[r][v], ByteLane::widen(part[v]));
    }
  }
}

// a = 2·(a / 2) + a mod 2: products of at most 127, and of at most 1, never fill 16 bits.
template <int kRows, int kVecs>
HWY_INLINE void add_split(const uint8_t* const* a, int64_t k, const int8_t* w,
                          Sums<kRows, kVecs>& sums) {
  for (int r = 0; r < kRows; ++r) {
    const int32_t four = four_bytes(a[r] + k);
    const Vec half = ByteLane::spread((four >> 1) & 0x7f7f7f7f),
              bit = ByteLane::spread(four & 0x01010101);
    for (int v = 0; v < kVecs; ++v) {
      const Vec factor = ByteLane::load(w + v * kStep * kLaneColumns);
      const Vec wide = ByteLane::widen(ByteLane::pairs(half, factor));
      const Vec rest = ByteLane::widen(ByteLane::pairs(bit, factor));
      sums.sum[r][v] =
          ByteLane::add32(sums.sum[r][v], ByteLane::add32(rest, ByteLane::add32(wide, wide)));
    }
  }
}

template <int kDepth, int kRows, int kVecs>
HWY_INLINE Sums<kRows, kVecs> multiply(const Int8Shape& shape, const ByteRows& a, int64_t first,
                                       const int8_t* w) {
  Sums<kRows, kVecs> sums;
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVecs; ++v) sums.sum[r][v] = ByteLane::zero();
  }
  constexpr int64_t kBytes = kStep * std::max(kDepth, 1);
  for (int64_t s = 0; s < shape.segments; ++s) {
    const uint8_t* row[kRows];
    for (int r = 0; r < kRows; ++r) row[r] = a.row(first + r) + s * a.segment;
    for (int64_t k = 0; k < padded_inner(shape); k += kBytes, w += kBytes * kColumns) {
      if constexpr (kDepth == 0) {
        add_split(row, k, w, sums);
      } else {
        add_steps<kDepth>(row, k, w, sums);
      }
    }
  }
  return sums;
}

struct Target {
  const float* scale;
  const float* bias;
  int64_t cols;  // up to kTileColumns
  bool relu;
};

constexpr int64_t kTileColumns = ByteLane::kVecs * kLaneColumns;

// y = scale∘sums + bias, a vector of one row.
template <class D>
HWY_INLINE void finish(D d, const Target& target, hn::Vec<hn::RebindToSigned<D>> sums, int64_t j,
                       float* y) {
  auto value = hn::MulAdd(hn::ConvertTo(d, sums), hn::LoadU(d, target.scale + j),
                          hn::LoadU(d, target.bias + j));
  if (target.relu) value = hn::Max(value, hn::Zero(d));
  hn::StoreU(value, d, y + j);
}

template <int kRows, int kVecs>
HWY_INLINE void finish_tile(const Sums<kRows, kVecs>& sums, const Target& target, const Rows& y) {
  const hn::ScalableTag<float> whole;
  const hn::ScalableTag<int32_t> ints;
  if constexpr (kLaneColumns > 1) {
    if (target.cols == kTileColumns) {
      HWY_UNROLL(12)
      for (int r = 0; r < kRows; ++r) {
        HWY_UNROLL(8)
        for (int v = 0; v < kVecs; ++v) {
          finish(whole, target, hn::Vec<decltype(ints)>{sums.sum[r][v]}, v * kLaneColumns,
                 y.row(r));
        }
      }
      return;
    }
  }
  HWY_ALIGN int32_t line[kTileColumns];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVecs; ++v) ByteLane::store(sums.sum[r][v], line + v * kLaneColumns);
    for_each_column(target.cols, [&](auto d, int64_t j) HWY_ATTR {
      const hn::RebindToSigned<decltype(d)> di;
      finish(d, target, hn::LoadU(di, line + j), j, y.row(r));
    });
  }
}

// A tile of `rows` <= kRows rows.
template <int kDepth, int kRows>
HWY_INLINE void run_tile(const Int8Shape& shape, int64_t first, int64_t rows, const ByteRows& a,
                         const int8_t* w, const Target& target, const Rows& y) {
  if (rows == kRows) {
    finish_tile(multiply<kDepth, kRows, ByteLane::kVecs>(shape, a, first, w), target, y);
  } else if constexpr (kRows > 1) {
    run_tile<kDepth, kRows - 1>(shape, first, rows, a, w, target, y);
  }
}

template <int kDepth>
void product(const Int8Shape& shape, int64_t first, int64_t rows, const ByteRows& a,
             const Int8Weights& weights, const Rows& y) {
  const int64_t panel = shape.segments * padded_inner(shape) * kColumns;  // bytes
  for (int64_t j = 0; j < shape.cols; j += kTileColumns) {
    const int8_t* w = weights.packed + j / kColumns * panel + j % kColumns * kStep;
    const Target target{weights.scale + j, weights.bias + j,
                        std::min<int64_t>(kTileColumns, shape.cols - j), weights.relu};
    for (int64_t i = 0; i < rows; i += ByteLane::kRows) {
      const int64_t count = std::min<int64_t>(ByteLane::kRows, rows - i);
      run_tile<kDepth, ByteLane::kRows>(shape, first + i, count, a, w, target,
                                        {y.row(i) + j, y.stride});
    }
  }
}

void any_product(const Int8Shape& shape, int64_t first, int64_t rows, const ByteRows& a,
                 const Int8Weights& weights, const Rows& y) {
  if (weights.depth >= 2) return product<2>(shape, first, rows, a, weights, y);
  if (weights.depth == 1) return product<1>(shape, first, rows, a, weights, y);
  product<0>(shape, first, rows, a, weights, y);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace soft
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace soft {

std::vector<Int8Sum> int8_sums(int64_t inner, int depth) {
  std::vector<Int8Sum> sums;
  for (int64_t group = 0; group < inner; group += depth * kStep) {
    for (int64_t lane = group; lane < group + kStep; lane += 2) {
      Int8Sum sum;
      for (int64_t k = lane; k < group + depth * kStep; k += kStep) {
        for (int64_t i = k; i < std::min(k + 2, inner); ++i) sum.index[sum.count++] = i;
      }
      if (sum.count > 0) sums.push_back(sum);
    }
  }
  return sums;
}

bool int8_fits(const Int8Sum& sum, const int8_t* line) {
  int64_t above = 0, below = 0;
  for (int i = 0; i < sum.count; ++i) {
    const int64_t weight = line[sum.index[i]];
    (weight > 0 ? above : below) += weight;
  }
  return above <= kInt8Limit && -below <= kInt8Limit;
}

int int8_depth(const Int8Shape& shape, const int8_t* weights) {
  for (int depth = kInt8Deepest; depth > 0; depth /= 2) {
    const std::vector<Int8Sum> sums = int8_sums(shape.inner, depth);
    bool all = true;
    for (int64_t line = 0; all && line < shape.cols * shape.segments; ++line) {
      all = std::all_of(sums.begin(), sums.end(), [&](const Int8Sum& sum) {
        return int8_fits(sum, weights + line * shape.inner);
      });
    }
    if (all) return depth;
  }
  return 0;
}

int64_t int8_packed_bytes(const Int8Shape& shape) {
  return (shape.cols + kColumns - 1) / kColumns * kColumns * shape.segments * padded_inner(shape);
}

void int8_pack(const Int8Shape& shape, const int8_t* weights, int8_t* packed) {
  std::memset(packed, 0, int8_packed_bytes(shape));
  const int64_t inner = padded_inner(shape);
  for (int64_t j = 0; j < shape.cols; ++j) {
    int8_t* panel = packed + j / kColumns * kColumns * shape.segments * inner;
    for (int64_t s = 0; s < shape.segments; ++s) {
      const int8_t* line = weights + (j * shape.segments + s) * shape.inner;
      for (int64_t k = 0; k < shape.inner; ++k) {
        const int64_t step = (s * inner + k) / kStep;
        panel[(step * kColumns + j % kColumns) * kStep + k % kStep] = line[k];
      }
    }
  }
}

HWY_EXPORT(any_product);

void int8_gemm(const Int8Shape& shape, int64_t first, int64_t rows, const ByteRows& a,
               const Int8Weights& weights, Rows y) {
  HWY_DYNAMIC_DISPATCH(any_product)(shape, first, rows, a, weights, y);
}

}  // namespace soft
#endif
