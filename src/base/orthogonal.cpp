#include "base/orthogonal.h"

#include <cmath>
#include <numeric>

namespace soft {
namespace {

using Vector = std::vector<double>;

Vector gaussian_vector(int64_t dim, Random& random) {
  Vector v(dim);
  for (double& value : v) value = random.normal();
  return v;
}

double dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// Gram-Schmidt, each projection taken from what the earlier ones left.
Vector direction_beside(const std::vector<Vector>& block, Vector v) {
  for (const Vector& other : block) {
    const double share = dot(v, other);
    for (size_t i = 0; i < v.size(); ++i) v[i] -= share * other[i];
  }
  const double length = std::sqrt(dot(v, v));
  for (double& value : v) value /= length;
  return v;
}

}  // namespace

std::vector<float> orthogonal_gaussians(int64_t rows, int64_t dim, Random random) {
  std::vector<float> matrix;
  matrix.reserve(rows * dim);
  std::vector<Vector> block;  // orthonormal, at most dim of them
  for (int64_t row = 0; row < rows; ++row) {
    if (static_cast<int64_t>(block.size()) == dim) block.clear();
    block.push_back(direction_beside(block, gaussian_vector(dim, random)));
    const Vector other = gaussian_vector(dim, random);
    const double length = std::sqrt(dot(other, other));
    for (double value : block.back()) matrix.push_back(static_cast<float>(length * value));
  }
  return matrix;
}

}  // namespace soft
