// inv(A) of the landmarks' kernel matrix: Newton-Schulz steps (Algorithm 2 of the paper and the
// variants of its released code) or an exact solve. Always per matrix, so that no sample depends on
// its neighbours.
//   newton           P = A + εI, V0 = αP with α = 1.8 / (max row sum)²;  V <- 2V - VPV
//   newton-adaptive  P = A, α = 1.8 / |A|₁², halved (ten times at most) until |I - αAA|₁ <= 1.01
//   newton-paper     P = A, α = 2 / |A|₁²
//   exact            Cholesky of A + εI; with ε = 0, or where that is not safely positive, the
//                    pseudo-inverse of the eigenvalues above 1e-6 λmax
// A matrix whose steps do not converge (relative residual over 0.1, or not finite) is solved
// exactly.
#pragma once

#include <torch/types.h>

#include <functional>
#include <vector>

#include "kernels/inverse.h"
#include "spec/names.h"

namespace soft {

struct InverseRule : InverseOptions {
  InverseGrad grad = InverseGrad::kOneShot;  // -inv' G inv', or autograd through every step
};

// a [.., m, m], symmetric. On src/kernels/inverse.h where the fast path applies.
torch::Tensor inverse(const torch::Tensor& a, const InverseRule& options);

// The iterates V0 … VT, and |A V A - A| / |A| (Frobenius) of one of them: [.., m, m] -> [..].
std::vector<torch::Tensor> newton_iterates(const torch::Tensor& a, const InverseRule& options);
torch::Tensor inverse_residual(const torch::Tensor& a, const torch::Tensor& v);

// While one lives, its thread tells `see` every [.., m, m] before it is inverted on the plain path.
class InverseWatch {
 public:
  explicit InverseWatch(std::function<void(const torch::Tensor& a)> see);
  ~InverseWatch();
  InverseWatch(const InverseWatch&) = delete;
  InverseWatch& operator=(const InverseWatch&) = delete;
};

// Matrices solved exactly for want of convergence, since the start.
int64_t inverse_fallbacks();
void count_fallbacks(int64_t matrices);  // says so once in the log

}  // namespace soft
