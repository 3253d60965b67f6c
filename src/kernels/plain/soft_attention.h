// The plain form of kernels/soft_attention.h: every array in full, derivatives term by term.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/plain/gaussian.h"
#include "kernels/plain/gemm.h"
#include "kernels/soft_attention.h"

namespace soft::plain {

template <class T>
struct SoftCase {
  int64_t n, m, d;
  std::vector<T> q;              // [n, d], not yet scaled
  std::vector<T> v;              // [n, d]
  std::vector<T> landmark;       // [m, d]
  std::vector<T> token_mask;     // [n], or empty
  std::vector<T> landmark_mask;  // [m], or empty
  T scale = 1;
  Normalise normalise = Normalise::kNone;

  bool real_token(int64_t i) const { return token_mask.empty() || token_mask[i] != 0; }
  bool real(int64_t i, int64_t j) const {
    return real_token(i) && (landmark_mask.empty() || landmark_mask[j] != 0);
  }
};

// K on the left and on the right; with kRows relative to the row's peak and to the highest of them.
template <class T>
struct Cross {
  std::vector<T> exponent;     // [n, m], -infinity where a token or landmark is not real
  std::vector<T> left, right;  // [n, m]
};

template <class T>
Cross<T> cross_kernel(const SoftCase<T>& c) {
  constexpr T kNever = -std::numeric_limits<T>::infinity();
  Cross<T> k{std::vector<T>(c.n * c.m, kNever), std::vector<T>(c.n * c.m),
             std::vector<T>(c.n * c.m)};
  for (int64_t i = 0; i < c.n; ++i) {
    for (int64_t j = 0; j < c.m; ++j) {
      if (!c.real(i, j)) continue;
      k.exponent[i * c.m + j] = exponent_of(c.d, &c.q[i * c.d], c.scale, &c.landmark[j * c.d]);
    }
  }
  const bool rows = c.normalise == Normalise::kRows;
  const auto shift = [&](int64_t begin, int64_t end) {
    const T peak = *std::max_element(&k.exponent[begin], &k.exponent[0] + end);
    return rows && peak != kNever ? peak : T(0);
  };
  const T highest = shift(0, c.n * c.m);
  for (int64_t i = 0; i < c.n * c.m; ++i) {
    const int64_t row = i / c.m * c.m;
    k.left[i] = std::exp(k.exponent[i] - shift(row, row + c.m));
    k.right[i] = std::exp(k.exponent[i] - highest);
  }
  return k;
}

template <class T>
std::vector<T> landmark_kernel(const SoftCase<T>& c) {
  std::vector<T> a(c.m * c.m);
  const T* mask = c.landmark_mask.empty() ? nullptr : c.landmark_mask.data();
  gaussian_self(c.m, c.d, c.landmark.data(), mask, a.data());
  return a;
}

// e, ones in the forms that have none: N = e∘X∘eᵀ in all cases.
template <class T>
std::vector<T> degree_factor(const SoftCase<T>& c, const std::vector<T>& a) {
  T all = 1;
  if (c.normalise == Normalise::kMean) {
    T real = 0;
    for (int64_t i = 0; i < c.n; ++i) real += c.real_token(i) ? 1 : 0;
    all = 1 / std::sqrt(std::max(real, T(1)));
  }
  std::vector<T> e(c.m, all);
  for (int64_t i = 0; c.normalise == Normalise::kCore && i < c.m; ++i) {
    T degree = 0;
    for (int64_t j = 0; j < c.m; ++j) degree += a[i * c.m + j];
    e[i] = 1 / std::sqrt(degree);
  }
  return e;
}

template <class T>
std::vector<T> core_of(const SoftCase<T>& c, const std::vector<T>& a, const std::vector<T>& x) {
  const std::vector<T> e = degree_factor(c, a);
  std::vector<T> core(c.m * c.m);
  for (int64_t i = 0; i < c.m; ++i) {
    for (int64_t j = 0; j < c.m; ++j) core[i * c.m + j] = e[i] * x[i * c.m + j] * e[j];
  }
  return core;
}

// S = KᵀV [m, d]
template <class T>
std::vector<T> gather(const SoftCase<T>& c, const std::vector<T>& k, const std::vector<T>& v) {
  std::vector<T> s(c.m * c.d);
  gemm<T>({c.m, c.d, c.n}, {k.data(), c.m, true}, {v.data(), c.d}, s.data(), c.d);
  return s;
}

// N·S [m, d]
template <class T>
std::vector<T> mix(const SoftCase<T>& c, const std::vector<T>& core, const std::vector<T>& s) {
  std::vector<T> mixed(c.m * c.d);
  gemm<T>({c.m, c.d, c.m}, {core.data(), c.m}, {s.data(), c.d}, mixed.data(), c.d);
  return mixed;
}

// K·M [n, d]
template <class T>
std::vector<T> scatter(const SoftCase<T>& c, const std::vector<T>& k, const std::vector<T>& mixed) {
  std::vector<T> y(c.n * c.d);
  gemm<T>({c.n, c.d, c.m}, {k.data(), c.m}, {mixed.data(), c.d}, y.data(), c.d);
  return y;
}

// Form kRows: what each row of K·M is divided by, and what that comes from.
template <class T>
struct RowSumsOf {
  std::vector<T> s, u;     // [m] Kᵀ1 and N·s
  std::vector<T> r, c, g;  // [n] K·u, K·1 and the guarded sum
  T square = 0;            // |u|²
};

template <class T>
RowSumsOf<T> row_sums(const SoftCase<T>& c, const Cross<T>& k, const std::vector<T>& core) {
  const T delta = T(kCancelled), tau = T(kVanished);
  RowSumsOf<T> sums{std::vector<T>(c.m), std::vector<T>(c.m), std::vector<T>(c.n),
                    std::vector<T>(c.n), std::vector<T>(c.n)};
  for (int64_t i = 0; i < c.n * c.m; ++i) sums.s[i % c.m] += k.right[i];
  for (int64_t i = 0; i < c.m * c.m; ++i) sums.u[i / c.m] += core[i] * sums.s[i % c.m];
  for (const T value : sums.u) sums.square += value * value;
  for (int64_t i = 0; i < c.n * c.m; ++i) {
    sums.r[i / c.m] += k.left[i] * sums.u[i % c.m];
    sums.c[i / c.m] += k.left[i];
  }
  for (int64_t i = 0; i < c.n; ++i) {
    const T guard = delta * sums.c[i];
    sums.g[i] = std::sqrt(sums.r[i] * sums.r[i] + guard * guard * sums.square + tau * tau);
  }
  return sums;
}

template <class T>
std::vector<T> divided(const SoftCase<T>& c, std::vector<T> y, const std::vector<T>& by) {
  for (int64_t i = 0; i < c.n * c.d; ++i) y[i] /= by[i / c.d];
  return y;
}

// Y [n, d], given the inverse X [m, m] of the landmark kernel.
template <class T>
std::vector<T> soft_attention(const SoftCase<T>& c, const std::vector<T>& x) {
  const Cross<T> k = cross_kernel(c);
  const std::vector<T> core = core_of(c, landmark_kernel(c), x);
  const std::vector<T> y = scatter(c, k.left, mix(c, core, gather(c, k.right, c.v)));
  return c.normalise == Normalise::kRows ? divided(c, y, row_sums(c, k, core).g) : y;
}

template <class T>
struct SoftGradients {
  std::vector<T> q, v, landmark;  // [n, d], [n, d], [m, d]
};

// Adds weight · d(exponent)/d(q_i, l_j) for the exponent -½|s·q_i - l_j|².
template <class T>
void pull(const SoftCase<T>& c, T weight, const T* from, T scale, const T* to, T* grad_from,
          T* grad_to) {
  for (int64_t t = 0; t < c.d; ++t) {
    const T difference = scale * from[t] - to[t];
    grad_from[t] -= weight * scale * difference;
    grad_to[t] += weight * difference;
  }
}

// dA [m, m] from dN, through the one-shot inverse and, with kCore, through D.
template <class T>
std::vector<T> kernel_gradient(const SoftCase<T>& c, const std::vector<T>& a,
                               const std::vector<T>& x, const std::vector<T>& grad_core) {
  const int64_t m = c.m;
  const std::vector<T> e = degree_factor(c, a);
  std::vector<T> grad_x(m * m), half(m * m), grad_a(m * m), grad_e(m);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < m; ++j) {
      grad_x[i * m + j] = e[i] * grad_core[i * m + j] * e[j];
      grad_e[i] += grad_core[i * m + j] * x[i * m + j] * e[j];
      grad_e[j] += grad_core[i * m + j] * x[i * m + j] * e[i];
    }
  }
  gemm<T>({m, m, m, -1}, {x.data(), m, true}, {grad_x.data(), m}, half.data(), m);
  gemm<T>({m, m, m}, {half.data(), m}, {x.data(), m, true}, grad_a.data(), m);
  for (int64_t i = 0; c.normalise == Normalise::kCore && i < m; ++i) {
    const T grad_degree = -grad_e[i] * e[i] * e[i] * e[i] / 2;
    for (int64_t j = 0; j < m; ++j) grad_a[i * m + j] += grad_degree;
  }
  return grad_a;
}

// dK on the left and on the right.
template <class T>
struct CrossGradient {
  std::vector<T> left, right;  // [n, m]
};

// Form kRows: adds to dK and dN [m, m] what goes through the sums; z = K·M [n, d].
template <class T>
void add_sums_gradient(const SoftCase<T>& c, const Cross<T>& k, const std::vector<T>& core,
                       const RowSumsOf<T>& sums, const std::vector<T>& z,
                       const std::vector<T>& grad_y, CrossGradient<T>& grad_k,
                       std::vector<T>& grad_core) {
  const T delta = T(kCancelled) * T(kCancelled);
  std::vector<T> grad_r(c.n), grad_c(c.n), grad_u(c.m), grad_s(c.m);
  T grad_square = 0;
  for (int64_t i = 0; i < c.n; ++i) {
    T grad_g = 0;
    for (int64_t t = 0; t < c.d; ++t) grad_g -= grad_y[i * c.d + t] * z[i * c.d + t];
    grad_g /= sums.g[i] * sums.g[i];
    grad_r[i] = grad_g * sums.r[i] / sums.g[i];
    grad_c[i] = grad_g * delta * sums.c[i] * sums.square / sums.g[i];
    grad_square += grad_g * delta * sums.c[i] * sums.c[i] / (2 * sums.g[i]);
  }
  for (int64_t j = 0; j < c.m; ++j) grad_u[j] = 2 * grad_square * sums.u[j];
  for (int64_t i = 0; i < c.n * c.m; ++i) grad_u[i % c.m] += k.left[i] * grad_r[i / c.m];
  for (int64_t i = 0; i < c.m * c.m; ++i) {
    grad_core[i] += grad_u[i / c.m] * sums.s[i % c.m];
    grad_s[i % c.m] += core[i] * grad_u[i / c.m];
  }
  for (int64_t i = 0; i < c.n * c.m; ++i) {
    grad_k.left[i] += grad_r[i / c.m] * sums.u[i % c.m] + grad_c[i / c.m];
    grad_k.right[i] += grad_s[i % c.m];
  }
}

template <class T>
SoftGradients<T> soft_attention_backward(const SoftCase<T>& c, const std::vector<T>& x,
                                         const std::vector<T>& incoming) {
  const int64_t n = c.n, m = c.m, d = c.d;
  const Cross<T> k = cross_kernel(c);
  const std::vector<T> a = landmark_kernel(c), core = core_of(c, a, x);
  const std::vector<T> s = gather(c, k.right, c.v), mixed = mix(c, core, s);
  const bool by_rows = c.normalise == Normalise::kRows;
  const RowSumsOf<T> sums = by_rows ? row_sums(c, k, core) : RowSumsOf<T>{};
  const std::vector<T> grad_y = by_rows ? divided(c, incoming, sums.g) : incoming;
  const std::vector<T> t = gather(c, k.left, grad_y), u = mix(c, core, t);
  SoftGradients<T> grad{std::vector<T>(n * d), scatter(c, k.right, u), std::vector<T>(m * d)};
  CrossGradient<T> grad_k{std::vector<T>(n * m), std::vector<T>(n * m)};
  std::vector<T> grad_core(m * m);
  gemm<T>({n, m, d}, {grad_y.data(), d}, {mixed.data(), d, true}, grad_k.left.data(), m);
  gemm<T>({n, m, d}, {c.v.data(), d}, {u.data(), d, true}, grad_k.right.data(), m);
  gemm<T>({m, m, d}, {t.data(), d}, {s.data(), d, true}, grad_core.data(), m);
  if (by_rows) {
    add_sums_gradient(c, k, core, sums, scatter(c, k.left, mixed), incoming, grad_k, grad_core);
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < m; ++j) {
      const int64_t at = i * m + j;
      if (k.exponent[at] == 0) continue;
      const T weight = k.left[at] * grad_k.left[at] + k.right[at] * grad_k.right[at];
      pull(c, weight, &c.q[i * d], c.scale, &c.landmark[j * d], &grad.q[i * d],
           &grad.landmark[j * d]);
    }
  }
  const std::vector<T> grad_a = kernel_gradient(c, a, x, grad_core);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < m; ++j) {
      const T value = a[i * m + j];  // 0 where dropped, 1 on the diagonal
      if (value == 1) continue;
      pull(c, value * grad_a[i * m + j], &c.landmark[i * d], T(1), &c.landmark[j * d],
           &grad.landmark[i * d], &grad.landmark[j * d]);
    }
  }
  return grad;
}

}  // namespace soft::plain
