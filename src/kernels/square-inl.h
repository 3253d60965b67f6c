// Square matrices of whole vectors and the products of symmetric ones, compiled once per
// instruction set: what inverse.cpp iterates with.
#if defined(SOFT_KERNELS_SQUARE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SOFT_KERNELS_SQUARE_INL_H_
#undef SOFT_KERNELS_SQUARE_INL_H_
#else
#define SOFT_KERNELS_SQUARE_INL_H_
#endif

#include <algorithm>
#include <cmath>

#include "kernels/gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace soft {
namespace HWY_NAMESPACE {

// An m x m matrix whose rows are whole vectors, zero beyond m.
struct Square {
  float* data;
  int64_t m;

  int64_t stride() const { return vectors(m) * lanes(); }
  float* row(int64_t i) const { return data + i * stride(); }
  float& at(int64_t i, int64_t j) const { return row(i)[j]; }
  Right right(int64_t k = 0) const { return {row(k), stride()}; }
};

// Columns [0, border_begin) are computed on and above the diagonal and mirrored below it. When m
// spills a little over whole vectors, the rows from border_begin on are computed in full instead
// and mirrored to the right: a few long rows cost less than one more vector in every row.
inline int64_t border_begin(int64_t m) {
  const int64_t spill = m % lanes();
  return spill * 2 <= lanes() ? m - spill : m;
}

inline void load(const float* a, float shift, const Square& out) {  // a [m, m] + shift·I
  std::fill_n(out.data, out.m * out.stride(), 0.0f);
  for (int64_t i = 0; i < out.m; ++i) {
    std::copy_n(a + i * out.m, out.m, out.row(i));
    out.at(i, i) += shift;
  }
}

inline void save(const Square& v, float* out) {
  for (int64_t i = 0; i < v.m; ++i) std::copy_n(v.row(i), v.m, out + i * v.m);
}

// The largest column sum of |shift·I - factor·a|, which for symmetric a is its row norm too.
inline float column_norm(const Square& a, float shift, float factor) {
  const FloatTag d;
  FloatVec largest = hn::Zero(d);
  for (int64_t j = 0; j < a.m; j += lanes()) {
    FloatVec sum = hn::Zero(d);
    const FloatVec column = hn::Iota(d, static_cast<float>(j));
    for (int64_t i = 0; i < a.m; ++i) {
      const auto diagonal = hn::Eq(column, hn::Set(d, static_cast<float>(i)));
      const FloatVec unit = hn::IfThenElseZero(diagonal, hn::Set(d, shift));
      const FloatVec scaled = hn::Mul(hn::Set(d, factor), hn::LoadU(d, a.row(i) + j));
      sum = hn::Add(sum, hn::Abs(hn::Sub(unit, scaled)));
    }
    largest = hn::Max(largest, sum);
  }
  return hn::GetLane(hn::MaxOfLanes(d, largest));
}

// C = A·B for square matrices.
inline void product(const Square& a, const Square& b, const Square& c) {
  const FloatTag d;
  multiply(a.m, vectors(a.m), a.m, {a.data, a.stride(), 1}, b.right(),
           [&](int64_t row, int64_t column, const auto& tile) HWY_ATTR {
             tile.visit([&](int64_t i, int64_t j, FloatVec sum)
                            HWY_ATTR { hn::StoreU(sum, d, c.row(row + i) + column + j); });
           });
}

// row -= weight·other, from column `start` on.
HWY_INLINE void subtract_row(const Square& u, int64_t row, int64_t other, int64_t start) {
  const FloatTag d;
  const FloatVec weight = hn::Set(d, u.at(other, row));
  for (int64_t j = start; j < u.stride(); j += lanes()) {
    const FloatVec left = hn::LoadU(d, u.row(row) + j);
    hn::StoreU(hn::NegMulAdd(weight, hn::LoadU(d, u.row(other) + j), left), d, u.row(row) + j);
  }
}

// Divides the row by the root of its pivot; false when that is too small for the factor to be
// trusted.
inline bool finish_row(const Square& u, int64_t row, int64_t start) {
  constexpr float kSmallestPivot = 1e-3f;
  const FloatTag d;
  const float pivot = u.at(row, row);
  if (!(pivot > kSmallestPivot)) return false;
  const FloatVec scale = hn::Set(d, 1 / std::sqrt(pivot));
  for (int64_t j = start; j < u.stride(); j += lanes()) {
    hn::StoreU(hn::Mul(scale, hn::LoadU(d, u.row(row) + j)), d, u.row(row) + j);
  }
  std::fill_n(u.row(row), row, 0.0f);
  return true;
}

// u upper triangular with uᵀu = p, a few rows at a time: first everything above them in one
// product, then each other. False when p is not safely positive.
inline bool factor(const Square& p, const Square& u) {
  constexpr int64_t kRows = 4;
  const FloatTag d;
  for (int64_t first = 0; first < u.m; first += kRows) {
    const int64_t rows = std::min(kRows, u.m - first), start = first / lanes() * lanes();
    multiply(rows, vectors(u.m) - start / lanes(), first, {u.data + first, 1, u.stride()},
             {u.data + start, u.stride()},
             [&](int64_t row, int64_t column, const auto& tile) HWY_ATTR {
               tile.visit([&](int64_t i, int64_t j, FloatVec sum) HWY_ATTR {
                 const int64_t at = start + column + j;
                 const FloatVec entry = hn::LoadU(d, p.row(first + row + i) + at);
                 hn::StoreU(hn::Sub(entry, sum), d, u.row(first + row + i) + at);
               });
             });
    for (int64_t row = first; row < first + rows; ++row) {
      for (int64_t above = first; above < row; ++above) subtract_row(u, row, above, start);
      if (!finish_row(u, row, start)) return false;
    }
  }
  return true;
}

// Y = U·V, skipping the zeros below the diagonal of U.
inline void triangle_product(const Square& u, const Square& v, const Square& y) {
  const FloatTag d;
  constexpr int64_t kRows = 4;
  for (int64_t row = 0; row < u.m; row += kRows) {
    const int64_t rows = std::min(kRows, u.m - row);
    multiply(rows, vectors(u.m), u.m - row, {&u.at(row, row), u.stride(), 1}, v.right(row),
             [&](int64_t first, int64_t column, const auto& tile) HWY_ATTR {
               tile.visit([&](int64_t i, int64_t j, FloatVec sum) HWY_ATTR {
                 hn::StoreU(sum, d, y.row(row + first + i) + column + j);
               });
             });
  }
}

// Copies what lies above the diagonal (and left of the border) to its mirror image.
inline void mirror(const Square& v) {
  const int64_t border = border_begin(v.m), whole = border / 4 * 4;
  for (int64_t i = 0; i < whole; i += 4) {
    for (int64_t j = 0; j < i; j += 4) {
      transpose_block(&v.at(j, i), v.stride(), &v.at(i, j), v.stride());
    }
  }
  for (int64_t i = 0; i < border; ++i) {
    for (int64_t j = i < whole ? i / 4 * 4 : 0; j < i; ++j) v.at(i, j) = v.at(j, i);
  }
  for (int64_t i = border; i < v.m; ++i) {
    for (int64_t j = 0; j < i; ++j) v.at(j, i) = v.at(i, j);
  }
}

// Calls visit(first row, rows, first vector, vectors) for blocks that cover a symmetric matrix of
// this size on and above the diagonal: panels of columns, the rows above the diagonal first.
template <class Visit>
HWY_INLINE void for_each_upper_block(int64_t size, const Visit& visit) {
  for (int64_t vec = 0; vec < vectors(size);) {
    const int64_t end = vec + next_part(vectors(size) - vec, kTileVecs);
    visit(0, vec * lanes(), vec, end - vec);
    for (; vec < end; ++vec) {
      visit(vec * lanes(), std::min(lanes(), size - vec * lanes()), vec, end - vec);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace soft
HWY_AFTER_NAMESPACE();

#endif
