// The backward pass of soft_attention.h from the landmarks' own matrix on.
#include "kernels/gemm.h"
#include "kernels/soft_pass.h"

namespace soft {
namespace {

// dA += dD along each row, with dD = -½·e³∘de and de_i = Σ_j (dN_ij + dN_ji)·X_ij·e_j.
void add_degree_gradient(const SoftPass& p) {
  const float *e = p.memory.e, *x = p.gradient.inverse, *grad_core = p.memory.grad_core;
  for (int64_t i = 0; i < p.m; ++i) {
    float grad_e = 0;
    for (int64_t j = 0; j < p.m; ++j) {
      grad_e += (grad_core[i * p.m + j] + grad_core[j * p.m + i]) * x[i * p.m + j] * e[j];
    }
    const float grad_degree = -0.5f * e[i] * e[i] * e[i] * grad_e;
    for (int64_t j = 0; j < p.m; ++j) p.memory.grad_a[i * p.m + j] += grad_degree;
  }
}

// dA = -X·dX·X from dN = T·Sᵀ, and through D with kCore.
void invert_gradient(const SoftPass& p) {
  const SoftPassMemory& memory = p.memory;
  const int64_t m = p.m;
  const Operand x{p.gradient.inverse, m};
  gemm({m, m, p.d}, {memory.pulled, p.d}, {p.gradient.gathered, p.d, true}, memory.grad_core, m);
  if (p.rows()) {  // dN += du·sᵀ
    gemm({m, m, 1, 1, 1}, {memory.grad_spread, 1}, {p.gradient.sums, m}, memory.grad_core, m);
  }
  scale_by_degree(m, memory.e, memory.grad_core, memory.grad_a);  // dX
  gemm({m, m, m, -1}, x, {memory.grad_a, m}, memory.scratch, m);  // -X·dX
  gemm({m, m, m}, {memory.scratch, m}, x, memory.grad_a, m);
  if (p.normalise == Normalise::kCore) add_degree_gradient(p);
}

// dL += C·L - rowsum(C)∘L with C = A∘(dA + dAᵀ), 0 where A = 1.
void landmark_gradient(const SoftPass& p) {
  const SoftPassMemory& memory = p.memory;
  const int64_t m = p.m;
  float *c = memory.scratch, *sums = memory.e;  // [m, m], [m]; e has done its work
  for (int64_t i = 0; i < m; ++i) {
    sums[i] = 0;
    for (int64_t j = 0; j < m; ++j) {
      const float a = memory.a[i * m + j];
      const float both = memory.grad_a[i * m + j] + memory.grad_a[j * m + i];
      c[i * m + j] = a == 1 ? 0 : a * both;
      sums[i] += c[i * m + j];
    }
  }
  gemm({m, p.d, m, 1, 1}, {c, m}, {p.head.landmark, p.d}, p.gradient.landmark, p.d);
  subtract_scaled(m, p.d, sums, 1, {p.head.landmark, p.d}, {p.gradient.landmark, p.d});
}

}  // namespace

void add_core_gradient(const SoftPass& pass) {
  invert_gradient(pass);
  landmark_gradient(pass);
}

}  // namespace soft
