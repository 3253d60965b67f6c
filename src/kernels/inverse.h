// Inverses of the m x m kernel A of the landmarks (symmetric, unit diagonal), one matrix at a time,
// so that a sample's result never depends on its neighbours.
//
//   newton           P = A + eps·I, alpha = 1.8 / (largest row sum of A)², V = alpha·P
//   newton-adaptive  P = A, alpha = 1.8·2^-i / |A|_1², smallest i <= 10 with |I - alpha·A·A|_1
//   <= 1.01 newton-paper     P = A, alpha = 2 / |A|_1²
//                    then `steps` times V <- 2V - VPV
//   exact            Cholesky of A + eps·I in double; for eps = 0, or where a pivot is not safely
//                    positive, its pseudo-inverse: eigenvalues up to 1e-6 of the largest are left
//                    out, and with them the negative ones, which a kernel has by rounding only
//
// V is kept exactly symmetric. With P = UᵀU the step is 2V - (UV)ᵀ(UV): the triangle halves the
// first product and symmetry the second, and the error stays that of the plain recurrence. (Halving
// P·V itself as if it were symmetric diverges: the fixed point then amplifies rounding by the
// condition number.) Where P has no safe factor, P·V is computed in full. Cost: about 2·m³ flops a
// step, half of the plain recurrence.
#pragma once

#include <cstdint>

#include "kernels/soft_form.h"

namespace soft {

struct InverseOptions {
  Inverse mode = Inverse::kNewton;
  int steps = 20;
  double epsilon = 0.01;  // used by newton and exact alone
};

// Modes that do not regularise their steps do not regularise the fall-back either.
constexpr double fallback_epsilon(const InverseOptions& options) {
  const bool regularised = options.mode == Inverse::kNewton || options.mode == Inverse::kExact;
  return regularised ? options.epsilon : 0;
}

struct InverseReport {
  float residual = 0;      // |AVA - A|_F / |A|_F of what was returned
  bool fell_back = false;  // the iteration failed and `exact` took its place
};

constexpr double kSmallestPivot = 1e-9;       // exact: below this Cholesky is not trusted
constexpr double kSmallestEigenvalue = 1e-6;  // exact: of the largest one; the others are left out
constexpr float kLargestResidual = 0.1f;  // above this, or not finite, Newton's result is useless

int64_t inverse_scratch(int64_t m);  // floats

// a [m, m] -> inverse [m, m] by the iteration that options.mode names; returns the residual, which
// may be large or not finite. Stops early only where V no longer changes at float precision.
float newton_inverse(const InverseOptions& options, int64_t m, const float* a, float* inverse,
                     float* scratch);

// a [m, m] -> inverse [m, m]. Works in double and allocates for itself: the rare, slow, safe road.
void exact_inverse(int64_t m, const float* a, double epsilon, float* inverse);

// What callers want: the mode asked for, and `exact` where its residual is not finite or above
// kLargestResidual. Never NaN for finite A.
InverseReport invert(const InverseOptions& options, int64_t m, const float* a, float* inverse,
                     float* scratch);

// |A·V·A - A|_F / |A|_F with a, v [m, m] symmetric.
float inverse_residual(int64_t m, const float* a, const float* v, float* scratch);

}  // namespace soft
