#include "attention/inverse.h"

#include <atomic>

#include "attention/fast_path.h"
#include "attention/torch.h"
#include "base/log.h"
#include "base/parallel.h"

namespace soft {
namespace {

using torch::Tensor;

std::atomic<int64_t> fallbacks{0};
thread_local std::function<void(const Tensor&)> watcher;

Tensor identity_like(const Tensor& a) { return torch::eye(a.size(-1), a.options()); }

Tensor one_norm(const Tensor& a) { return a.abs().sum(-2).amax(-1); }  // [.., m, m] -> [..]

// One scalar per matrix.
Tensor times(const Tensor& scalars, const Tensor& a) {
  return scalars.unsqueeze(-1).unsqueeze(-1) * a;
}

Tensor adaptive_alpha(const Tensor& a) {
  Tensor alpha = 1.8 / one_norm(a).square();
  const Tensor square = torch::matmul(a, a);
  const Tensor eye = identity_like(a);
  for (int halvings = 0; halvings < 10; ++halvings) {
    const Tensor norm = one_norm(eye - times(alpha, square));
    alpha = torch::where(norm > 1.01, alpha * 0.5, alpha);
  }
  return alpha;
}

struct Start {
  Tensor p;  // the matrix that the steps invert
  Tensor v;  // V0
};

Start newton_start(const Tensor& a, const InverseRule& options) {
  if (options.mode == Inverse::kNewtonAdaptive) return {a, times(adaptive_alpha(a), a)};
  if (options.mode == Inverse::kNewtonPaper) return {a, times(2 / one_norm(a).square(), a)};
  const Tensor p = a + options.epsilon * identity_like(a);
  return {p, times(1.8 / a.sum(-1).amax(-1).square(), p)};
}

// Kept symmetric: round-off outside A's range would otherwise double at each step.
Tensor newton_step(const Tensor& p, const Tensor& v) {
  const Tensor next = 2 * v - torch::matmul(torch::matmul(v, p), v);
  return 0.5 * (next + next.transpose(-1, -2));
}

Tensor newton(const Tensor& a, const InverseRule& options) {
  auto [p, v] = newton_start(a, options);
  for (int step = 0; step < options.steps; ++step) v = newton_step(p, v);
  return v;
}

// a [N, m, m]
Tensor spectral_inverse(const Tensor& a) {
  const auto [values, vectors] = torch::linalg_eigh(a.to(torch::kFloat64));
  const Tensor cutoff = kSmallestEigenvalue * values.amax(-1, true).clamp_min(0);
  const Tensor reciprocal = torch::where(values > cutoff, 1 / values, torch::zeros_like(values));
  const Tensor scaled_vectors = vectors * reciprocal.unsqueeze(-2);
  return torch::matmul(scaled_vectors, vectors.transpose(-1, -2));
}

// The rule of exact_inverse in src/kernels/exact_inverse.cpp: Cholesky of A + εI, and for each
// matrix where that is not safely positive (or ε is 0) the pseudo-inverse.
Tensor exact(const Tensor& a, double epsilon) {
  const Tensor wide = a.to(torch::kFloat64);  // [N, m, m]
  if (epsilon <= 0) return spectral_inverse(wide).to(a.scalar_type());
  const Tensor p = wide + epsilon * identity_like(wide);
  const auto [factor, failed] = torch::linalg_cholesky_ex(p);
  const Tensor pivots = factor.diagonal(0, -2, -1).square().amin(-1);  // [N]
  const Tensor safe = (failed == 0).logical_and(pivots > kSmallestPivot);
  const Tensor good = safe.nonzero().flatten(), bad = safe.logical_not().nonzero().flatten();
  Tensor inv = torch::empty_like(p);
  if (good.numel() > 0) {
    inv.index_copy_(0, good, torch::cholesky_inverse(factor.index_select(0, good)));
  }
  if (bad.numel() > 0) inv.index_copy_(0, bad, spectral_inverse(p.index_select(0, bad)));
  return inv.to(a.scalar_type());
}

struct Solved {
  Tensor inverse;     // [N, m, m]
  Tensor exact_rows;  // positions of the matrices whose steps did not converge
};

Solved solve_by_kernel(const Tensor& input, const InverseRule& rule) {
  count_fast_path(FastPath::kInverse);
  const Tensor a = input.contiguous(), inv = torch::empty_like(a);
  const Tensor failed = torch::zeros({a.size(0)}, torch::kBool);
  const int64_t m = a.size(-1);
  parallel_for(a.size(0), [&](int64_t begin, int64_t end) {
    std::vector<float> scratch(inverse_scratch(m));
    for (int64_t i = begin; i < end; ++i) {
      failed.data_ptr<bool>()[i] = invert(rule, m, a.data_ptr<float>() + i * m * m,
                                          inv.data_ptr<float>() + i * m * m, scratch.data())
                                       .fell_back;
    }
  });
  const Tensor rows = failed.nonzero().flatten();
  count_fallbacks(rows.numel());
  return {inv, rows};
}

// The value alone; autograd is the caller's business.
Solved solve(const Tensor& a, const InverseRule& options) {
  if (fast_path_applies(a)) return solve_by_kernel(a, options);
  if (options.mode == Inverse::kExact) return {exact(a, options.epsilon), {}};
  const Tensor v = newton(a, options);
  const Tensor converged = inverse_residual(a, v) <= kLargestResidual;  // false for NaN
  const Tensor rows = converged.logical_not().nonzero().flatten();
  if (rows.numel() == 0) return {v, rows};
  count_fallbacks(rows.numel());
  return {v.index_copy(0, rows, exact(a.index_select(0, rows), fallback_epsilon(options))), rows};
}

// inv(A) with the gradient that holds at convergence: dA = -inv' G inv'.
class OneShotInverse : public torch::autograd::Function<OneShotInverse> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& a,
                        InverseRule options) {
    const Tensor v = solve(a, options).inverse;
    context->save_for_backward({v});
    return v;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const Tensor transposed = context->get_saved_variables()[0].transpose(-1, -2);
    return {-torch::matmul(torch::matmul(transposed, gradients[0]), transposed), Tensor()};
  }
};

// Autograd through every step. Matrices that need the exact solve take its one-shot gradient, since
// going back through an overflow would turn it into NaN.
Tensor unrolled_inverse(const Tensor& a, const InverseRule& options) {
  Tensor exact_rows;
  {
    const torch::NoGradGuard no_grad;
    exact_rows = solve(a, options).exact_rows;
  }
  if (exact_rows.numel() == 0) return newton(a, options);
  const Tensor is_good = torch::ones({a.size(0)}, a.options().dtype(torch::kBool));
  const Tensor good_rows = is_good.index_fill(0, exact_rows, false).nonzero().flatten();
  InverseRule exactly = options;
  exactly.mode = Inverse::kExact;
  exactly.epsilon = fallback_epsilon(options);
  const Tensor solved = OneShotInverse::apply(a.index_select(0, exact_rows), exactly);
  const Tensor result = torch::zeros_like(a).index_copy(0, exact_rows, solved);
  return result.index_copy(0, good_rows, newton(a.index_select(0, good_rows), options));
}

}  // namespace

Tensor inverse(const Tensor& a, const InverseRule& options) {
  if (watcher) watcher(a);
  const Tensor matrices = a.reshape({-1, a.size(-2), a.size(-1)});  // [N, m, m]
  const bool unrolled = options.grad == InverseGrad::kUnrolled && options.mode != Inverse::kExact;
  const Tensor inv =
      unrolled ? unrolled_inverse(matrices, options) : OneShotInverse::apply(matrices, options);
  return inv.reshape(a.sizes());
}

InverseWatch::InverseWatch(std::function<void(const Tensor& a)> see) { watcher = std::move(see); }
InverseWatch::~InverseWatch() { watcher = nullptr; }

std::vector<Tensor> newton_iterates(const Tensor& a, const InverseRule& options) {
  const Start start = newton_start(a, options);
  std::vector<Tensor> iterates{start.v};
  for (int step = 0; step < options.steps; ++step) {
    iterates.push_back(newton_step(start.p, iterates.back()));
  }
  return iterates;
}

Tensor inverse_residual(const Tensor& a, const Tensor& v) {
  const Tensor difference = torch::matmul(torch::matmul(a, v), a) - a;
  return (difference.square().sum({-2, -1}) / a.square().sum({-2, -1})).sqrt();
}

int64_t inverse_fallbacks() { return fallbacks; }

void count_fallbacks(int64_t matrices) {
  if (matrices == 0) return;
  fallbacks += matrices;
  log_once("a Newton inverse did not converge; such matrices are solved exactly instead");
}

}  // namespace soft
