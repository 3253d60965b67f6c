#include "kernels/inverse.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/inverse.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "kernels/square-inl.h"

HWY_BEFORE_NAMESPACE();
namespace soft {
namespace HWY_NAMESPACE {
namespace {

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

float first_factor(Inverse mode, const Square& a, const Square& square) {
  const float norm = column_norm(a, 0, 1);
  if (mode == Inverse::kNewtonPaper) return 2 / (norm * norm);
  float alpha = 1.8f / (norm * norm);
  if (mode == Inverse::kNewton) return alpha;
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
  std::fill_n(u.data, size, 0.0f);  // its padding is read even where no factor is found
  load(a, 0, p);
  const float alpha = first_factor(options.mode, p, y);
  if (options.mode == Inverse::kNewton) load(a, static_cast<float>(options.epsilon), p);
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
  if (options.mode != Inverse::kExact) {
    const float residual = newton_inverse(options, m, a, inverse, scratch);
    if (residual <= kLargestResidual) return {residual, false};  // false for NaN
  }
  exact_inverse(m, a, fallback_epsilon(options), inverse);
  return {inverse_residual(m, a, inverse, scratch), options.mode != Inverse::kExact};
}

}  // namespace soft
#endif
