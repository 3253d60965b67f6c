// The register-blocked heart of every product in this room, compiled once per instruction set.
// A tile of C lives in registers; per step one column of op(A) is broadcast against one row of B.
// Every element is a single chain of multiply-adds over the inner index, whatever the tile's shape.
#if defined(SOFT_KERNELS_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SOFT_KERNELS_GEMM_INL_H_
#undef SOFT_KERNELS_GEMM_INL_H_
#else
#define SOFT_KERNELS_GEMM_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace soft {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVec = hn::Vec<FloatTag>;

// The tallest tile of each width, in vectors, such that the accumulators, one row of B and one
// broadcast fit the registers (16 of them on AVX2 and SSE4, 32 on AVX-512 and NEON) and there are
// enough accumulators to hide the latency of a multiply-add.
#if HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr int kTileVecs = 4;
constexpr int tile_rows(int vecs) { return vecs == 4 ? 6 : 8; }
#else
constexpr int kTileVecs = 3;
constexpr int tile_rows(int vecs) { return vecs == 3 ? 4 : vecs == 2 ? 6 : 8; }
#endif
constexpr int kTileRows = 8;

HWY_INLINE int64_t lanes() { return static_cast<int64_t>(hn::Lanes(FloatTag())); }
HWY_INLINE int64_t vectors(int64_t count) { return (count + lanes() - 1) / lanes(); }

// op(A) as the tiles walk it: element (i, k) is data[i * row + k * column].
struct Left {
  const float* data;
  int64_t row;
  int64_t column;
};

// B as the tiles walk it: rows of whole vectors, `stride` apart.
struct Right {
  const float* data;
  int64_t stride;
};

template <int kRows, int kVecs>
struct Tile {
  static constexpr int kHeight = kRows;
  FloatVec sum[kRows][kVecs];

  // Calls use(row, column, vector) for every vector of the tile.
  template <class Use>
  HWY_INLINE void visit(const Use& use) const {
    HWY_UNROLL(8)
    for (int i = 0; i < kRows; ++i) {
      HWY_UNROLL(8)
      for (int j = 0; j < kVecs; ++j) use(i, j * lanes(), sum[i][j]);
    }
  }
};

template <int kRows, int kVecs>
HWY_INLINE Tile<kRows, kVecs> multiply_tile(const Left& a, const Right& b, int64_t inner) {
  const FloatTag d;
  Tile<kRows, kVecs> tile;
  HWY_UNROLL(8)
  for (int i = 0; i < kRows; ++i) {
    HWY_UNROLL(8)
    for (int j = 0; j < kVecs; ++j) tile.sum[i][j] = hn::Zero(d);
  }
  const float* a_k = a.data;
  const float* b_k = b.data;
  for (int64_t k = 0; k < inner; ++k, a_k += a.column, b_k += b.stride) {
    FloatVec row[kVecs];
    HWY_UNROLL(8)
    for (int j = 0; j < kVecs; ++j) row[j] = hn::LoadU(d, b_k + j * lanes());
    HWY_UNROLL(8)
    for (int i = 0; i < kRows; ++i) {
      const FloatVec factor = hn::Set(d, a_k[i * a.row]);
      HWY_UNROLL(8)
      for (int j = 0; j < kVecs; ++j) tile.sum[i][j] = hn::MulAdd(factor, row[j], tile.sum[i][j]);
    }
  }
  return tile;
}

// The size of the next of the fewest nearly equal parts, each at most `largest`, of what is left.
HWY_INLINE int64_t next_part(int64_t left, int64_t largest) {
  const int64_t parts = (left + largest - 1) / largest;
  return (left + parts - 1) / parts;
}

// One tile of `rows` <= kRows rows.
template <int kRows, int kVecs, class Finish>
HWY_INLINE void run_tile(int64_t rows, const Left& a, const Right& b, int64_t inner,
                         const Finish& finish) {
  if (rows == kRows) {
    finish(multiply_tile<kRows, kVecs>(a, b, inner));
  } else if constexpr (kRows > 1) {
    run_tile<kRows - 1, kVecs>(rows, a, b, inner, finish);
  }
}

// All rows of a panel `vecs` <= kVecs vectors wide: calls finish(first row, tile).
template <int kVecs, class Finish>
HWY_INLINE void run_panel(int64_t vecs, int64_t rows, int64_t inner, const Left& a, const Right& b,
                          const Finish& finish) {
  if (vecs == kVecs) {
    for (int64_t row = 0; row < rows;) {
      const int64_t count = next_part(rows - row, tile_rows(kVecs));
      run_tile<tile_rows(kVecs), kVecs>(count, {a.data + row * a.row, a.row, a.column}, b, inner,
                                        [&](const auto& tile) HWY_ATTR { finish(row, tile); });
      row += count;
    }
  } else if constexpr (kVecs > 1) {
    run_panel<kVecs - 1>(vecs, rows, inner, a, b, finish);
  }
}

// A single row has only as many accumulators as it is wide: up to kVecs at a time.
template <int kVecs, class Finish>
HWY_INLINE void run_row(int64_t vecs, int64_t inner, const Left& a, const Right& b,
                        const Finish& finish) {
  if (vecs == kVecs) {
    finish(multiply_tile<1, kVecs>(a, b, inner));
  } else if constexpr (kVecs > 1) {
    run_row<kVecs - 1>(vecs, inner, a, b, finish);
  }
}

// op(A) [rows, inner] times B [inner, vecs vectors]: calls finish(first row, first column, tile)
// for tiles that cover the product.
template <class Finish>
HWY_INLINE void multiply(int64_t rows, int64_t vecs, int64_t inner, const Left& a, const Right& b,
                         const Finish& finish) {
  constexpr int kRowVecs = 8;
  for (int64_t vec = 0; vec < vecs;) {
    const int64_t count = next_part(vecs - vec, rows == 1 ? kRowVecs : kTileVecs);
    const int64_t column = vec * lanes();
    const Right panel{b.data + column, b.stride};
    if (rows == 1) {
      run_row<kRowVecs>(count, inner, a, panel,
                        [&](const auto& tile) HWY_ATTR { finish(0, column, tile); });
    } else {
      run_panel<kTileVecs>(count, rows, inner, a, panel,
                           [&](int64_t row, const auto& tile)
                               HWY_ATTR { finish(row, column, tile); });
    }
    vec += count;
  }
}

// out (4 x 4) = inᵀ
HWY_INLINE void transpose_block(const float* in, int64_t stride, float* out, int64_t out_stride) {
#if HWY_TARGET == HWY_SCALAR
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) out[j * out_stride + i] = in[i * stride + j];
  }
#else
  const hn::Full128<float> d;
  const auto row0 = hn::LoadU(d, in), row1 = hn::LoadU(d, in + stride);
  const auto row2 = hn::LoadU(d, in + 2 * stride), row3 = hn::LoadU(d, in + 3 * stride);
  const auto even_low = hn::InterleaveLower(d, row0, row2);
  const auto even_high = hn::InterleaveUpper(d, row0, row2);
  const auto odd_low = hn::InterleaveLower(d, row1, row3);
  const auto odd_high = hn::InterleaveUpper(d, row1, row3);
  hn::StoreU(hn::InterleaveLower(d, even_low, odd_low), d, out);
  hn::StoreU(hn::InterleaveUpper(d, even_low, odd_low), d, out + out_stride);
  hn::StoreU(hn::InterleaveLower(d, even_high, odd_high), d, out + 2 * out_stride);
  hn::StoreU(hn::InterleaveUpper(d, even_high, odd_high), d, out + 3 * out_stride);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace soft
HWY_AFTER_NAMESPACE();

#endif
