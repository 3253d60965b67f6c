// The exact inverse in double: Cholesky of A + epsilon·I, or, where that is not safely positive,
// the pseudo-inverse from Jacobi's eigenvalues.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/inverse.h"

namespace soft {
namespace {

using Matrix = std::vector<double>;  // [m, m]

Matrix shifted(int64_t m, const float* a, double epsilon) {
  Matrix p(a, a + m * m);
  for (int64_t i = 0; i < m; ++i) p[i * m + i] += epsilon;
  return p;
}

// In place: the lower triangle of p becomes L with L·Lᵀ = p. False when p is not safely positive.
bool cholesky(int64_t m, Matrix& p) {
  for (int64_t j = 0; j < m; ++j) {
    for (int64_t i = j; i < m; ++i) {
      double sum = p[i * m + j];
      for (int64_t k = 0; k < j; ++k) sum -= p[i * m + k] * p[j * m + k];
      if (i == j && !(sum > kSmallestPivot)) return false;
      p[i * m + j] = i == j ? std::sqrt(sum) : sum / p[j * m + j];
    }
  }
  return true;
}

// (L·Lᵀ)^-1 = Zᵀ·Z with Z = L^-1, lower triangular.
void inverse_from_cholesky(int64_t m, const Matrix& l, float* inverse) {
  Matrix z(m * m);
  for (int64_t i = 0; i < m; ++i) {
    z[i * m + i] = 1;
    for (int64_t k = 0; k < i; ++k) {
      for (int64_t j = 0; j <= k; ++j) z[i * m + j] -= l[i * m + k] * z[k * m + j];
    }
    for (int64_t j = 0; j <= i; ++j) z[i * m + j] /= l[i * m + i];
  }
  Matrix sum(m * m);
  for (int64_t k = 0; k < m; ++k) {
    for (int64_t i = 0; i <= k; ++i) {
      for (int64_t j = 0; j <= i; ++j) sum[i * m + j] += z[k * m + i] * z[k * m + j];
    }
  }
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      inverse[i * m + j] = inverse[j * m + i] = static_cast<float>(sum[i * m + j]);
    }
  }
}

// One Jacobi rotation: makes a[p, q] zero, and turns the rows of `vectors` along.
void rotate(int64_t m, Matrix& a, Matrix& vectors, int64_t p, int64_t q) {
  const double off = a[p * m + q];
  const double theta = (a[q * m + q] - a[p * m + p]) / (2 * off);
  const double t = std::copysign(1.0, theta) / (std::abs(theta) + std::sqrt(theta * theta + 1));
  const double c = 1 / std::sqrt(t * t + 1), s = t * c;
  for (int64_t k = 0; k < m; ++k) {
    const double x = a[k * m + p], y = a[k * m + q];
    a[k * m + p] = c * x - s * y;
    a[k * m + q] = s * x + c * y;
  }
  for (Matrix* rows : {&a, &vectors}) {
    double *x = &(*rows)[p * m], *y = &(*rows)[q * m];
    for (int64_t k = 0; k < m; ++k) {
      const double above = x[k], below = y[k];
      x[k] = c * above - s * below;
      y[k] = s * above + c * below;
    }
  }
}

double off_diagonal(int64_t m, const Matrix& a) {
  double sum = 0;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < i; ++j) sum += a[i * m + j] * a[i * m + j];
  }
  return std::sqrt(2 * sum);
}

// Diagonalises a in place; row i of the result is the eigenvector of a[i, i].
Matrix jacobi(int64_t m, Matrix& a) {
  constexpr int kSweeps = 50;  // convergence is quadratic: about ten suffice
  Matrix vectors(m * m);
  double size = 0;
  for (int64_t i = 0; i < m; ++i) {
    vectors[i * m + i] = 1;
    size += a[i * m + i] * a[i * m + i];
  }
  for (int sweep = 0; sweep < kSweeps && off_diagonal(m, a) > 1e-14 * std::sqrt(size); ++sweep) {
    for (int64_t p = 0; p < m; ++p) {
      for (int64_t q = p + 1; q < m; ++q) {
        if (a[p * m + q] != 0) rotate(m, a, vectors, p, q);
      }
    }
  }
  return vectors;
}

void pseudo_inverse(int64_t m, Matrix a, float* inverse) {
  const Matrix vectors = jacobi(m, a);
  double largest = 0;
  for (int64_t k = 0; k < m; ++k) largest = std::max(largest, a[k * m + k]);
  Matrix sum(m * m);
  for (int64_t k = 0; k < m; ++k) {
    const double eigenvalue = a[k * m + k];
    if (eigenvalue <= kSmallestEigenvalue * largest) continue;
    const double* x = &vectors[k * m];
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < m; ++j) sum[i * m + j] += x[i] * x[j] / eigenvalue;
    }
  }
  std::copy(sum.begin(), sum.end(), inverse);
}

}  // namespace

void exact_inverse(int64_t m, const float* a, double epsilon, float* inverse) {
  Matrix p = shifted(m, a, epsilon);
  if (epsilon > 0 && cholesky(m, p)) {
    inverse_from_cholesky(m, p, inverse);
  } else {
    pseudo_inverse(m, shifted(m, a, epsilon), inverse);
  }
}

}  // namespace soft
