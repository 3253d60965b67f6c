// The words in which settings and kernels speak of SOFT's attention.
#pragma once

namespace soft {

// How the landmarks' kernel A is inverted; the equations are in kernels/inverse.h.
enum class Inverse { kNewton, kNewtonAdaptive, kNewtonPaper, kExact };

// What S = K1 inv(A) K1' becomes before it meets V; D = diag(S·1), guarded where that vanishes.
enum class Normalise {
  kNone,  // S
  kCore,  // inv(A) between D_A^-1/2, D_A the row sums of A: soft-norm
  kRows,  // D^-1 S: every row adds up to 1, as softmax's do
  kMean,  // S / n
};

}  // namespace soft
