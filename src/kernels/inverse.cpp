#include "kernels/inverse.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/inverse.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "kernels/gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace soft {
namespace HWY_NAMESPACE {
namespace {

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
int64_t border_begin(int64_t m) {
  const int64_t spill = m % lanes();
  return spill * 2 <= lanes() ? m - spill : m;
}

void load(const float* a, float shift, const Square& out) {  // a [m, m] + shift·I
  std::fill_n(out.data, out.m * out.stride(), 0.0f);
  for (int64_t i = 0; i < out.m; ++i) {
    std::copy_n(a + i * out.m, out.m, out.row(i));
    out.at(i, i) += shift;
  }
}

void save(const Square& v, float* out) {
  for (int64_t i = 0; i < v.m; ++i) std::copy_n(v.row(i), v.m, out + i * v.m);
}

// The largest column sum of |shift·I - factor·a|, which for symmetric a is its row norm too.
float column_norm(const Square& a, float shift, float factor) {
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
void product(const Square& a, const Square& b, const Square& c) {
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
bool finish_row(const Square& u, int64_t row, int64_t start) {
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
bool factor(const Square& p, const Square& u) {
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
void triangle_product(const Square& u, const Square& v, const Square& y) {
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
void mirror(const Square& v) {
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

// next = 2·v - A·B for a symmetric product A·B; next may be v unless A is. Returns the largest
// change.
float update(const Left& a, const Right& b, const Square& v, const Square& next) {
  const FloatTag d;
  FloatVec change = hn::Zero(d);
  const auto block = [&](int64_t row, int64_t rows, int64_t vec, int64_t vecs) HWY_ATTR {
    const int64_t start = vec * lanes();
    multiply(rows, vecs, v.m, {a.data + row * a.row, a.row, a.column}, {b.data + start, b.stride},
             [&](int64_t first, int64_t column, const auto& tile) HWY_ATTR {
               FloatVec largest = hn::Zero(d);  // stays in a register, unlike `change`
               tile.visit([&](int64_t i, int64_t j, FloatVec sum) HWY_ATTR {
                 const int64_t at = start + column + j;
                 const FloatVec old = hn::LoadU(d, v.row(row + first + i) + at);
                 const FloatVec step = hn::Sub(old, sum);
                 largest = hn::Max(largest, hn::Abs(step));
                 hn::StoreU(hn::Add(old, step), d, next.row(row + first + i) + at);
               });
               change = hn::Max(change, largest);
             });
  };
  const int64_t border = border_begin(v.m);
  for_each_upper_block(border, block);
  block(border, v.m - border, 0, vectors(v.m));
  mirror(next);
  return hn::GetLane(hn::MaxOfLanes(d, change));
}

float first_factor(InverseMode mode, const Square& a, const Square& square) {
  const float norm = column_norm(a, 0, 1);
  if (mode == InverseMode::kNewtonPaper) return 2 / (norm * norm);
  float alpha = 1.8f / (norm * norm);
  if (mode == InverseMode::kNewton) return alpha;
  product(a, a, square);
  for (int i = 0; i < 10 && column_norm(square, 1, alpha) > 1.01f; ++i) alpha /= 2;
  return alpha;
}

// Nothing moves any more at float precision. V is positive, so its largest entry is on the
// diagonal.
bool settled(float change, const Square& v) {
  float largest = 0;
  for (int64_t i = 0; i < v.m; ++i) largest = std::max(largest, v.at(i, i));
  return change <= 1e-7f * largest;
}

// The iteration; what it works on is carved out of scratch: four squares.
void iterate(const InverseOptions& options, int64_t m, const float* a, float* inverse,
             float* scratch) {
  const int64_t size = m * padded(m);
  const Square p{scratch, m}, u{scratch + size, m}, y{scratch + 2 * size, m};
  Square v{scratch + 3 * size, m}, spare = u;
  load(a, 0, p);
  const float alpha = first_factor(options.mode, p, y);
  if (options.mode == InverseMode::kNewton) load(a, static_cast<float>(options.epsilon), p);
  const bool factored = factor(p, u);
  for (int64_t i = 0; i < m * p.stride(); ++i) v.data[i] = alpha * p.data[i];
  for (int step = 0; step < options.steps; ++step) {
    float change;
    if (factored) {
      triangle_product(u, v, y);
      change = update({y.data, 1, y.stride()}, y.right(), v, v);
    } else {
      product(p, v, y);
      change = update({v.data, v.stride(), 1}, y.right(), v, spare);
      std::swap(v, spare);
    }
    if (settled(change, v)) break;
  }
  save(v, inverse);
}

float residual(int64_t m, const float* a, const float* v, float* scratch) {
  const FloatTag d;
  const int64_t size = m * padded(m);
  const Square left{scratch, m}, middle{scratch + size, m}, half{scratch + 2 * size, m};
  load(a, 0, left);
  load(v, 0, middle);
  product(left, middle, half);
  FloatVec error = hn::Zero(d), total = hn::Zero(d);
  for_each_upper_block(m, [&](int64_t row, int64_t rows, int64_t vec, int64_t vecs) HWY_ATTR {
    const int64_t start = vec * lanes();
    multiply(rows, vecs, m, {half.row(row), half.stride(), 1}, {left.data + start, left.stride()},
             [&](int64_t first, int64_t column, const auto& tile) HWY_ATTR {
               FloatVec tile_error = hn::Zero(d), tile_total = hn::Zero(d);  // in registers
               tile.visit([&](int64_t i, int64_t j, FloatVec sum) HWY_ATTR {
                 const int64_t y = row + first + i, x = start + column + j;
                 // What lies off the diagonal blocks stands for its mirror image too.
                 const FloatVec weight = hn::Set(d, y / lanes() == x / lanes() ? 1.0f : 2.0f);
                 const FloatVec entry = hn::LoadU(d, left.row(y) + x);
                 const FloatVec difference = hn::Sub(sum, entry);
                 tile_error = hn::MulAdd(hn::Mul(weight, difference), difference, tile_error);
                 tile_total = hn::MulAdd(hn::Mul(weight, entry), entry, tile_total);
               });
               error = hn::Add(error, tile_error);
               total = hn::Add(total, tile_total);
             });
  });
  return std::sqrt(hn::GetLane(hn::SumOfLanes(d, error)) / hn::GetLane(hn::SumOfLanes(d, total)));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace soft
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace soft {

HWY_EXPORT(iterate);
HWY_EXPORT(residual);

int64_t inverse_scratch(int64_t m) { return 4 * m * padded(m); }

float inverse_residual(int64_t m, const float* a, const float* v, float* scratch) {
  return HWY_DYNAMIC_DISPATCH(residual)(m, a, v, scratch);
}

float newton_inverse(const InverseOptions& options, int64_t m, const float* a, float* inverse,
                     float* scratch) {
  HWY_DYNAMIC_DISPATCH(iterate)(options, m, a, inverse, scratch);
  return inverse_residual(m, a, inverse, scratch);
}

InverseReport invert(const InverseOptions& options, int64_t m, const float* a, float* inverse,
                     float* scratch) {
  if (options.mode != InverseMode::kExact) {
    const float residual = newton_inverse(options, m, a, inverse, scratch);
    if (residual <= kLargestResidual) return {residual, false};  // false for NaN
  }
  exact_inverse(m, a, options.epsilon, inverse);
  return {inverse_residual(m, a, inverse, scratch), options.mode != InverseMode::kExact};
}

}  // namespace soft
#endif
