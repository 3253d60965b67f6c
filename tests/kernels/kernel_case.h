// Shared by the kernel tests: random data, every instruction set, distances, finite differences.
#pragma once

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "base/random.h"

namespace soft::test {

inline std::vector<float> normal_floats(int64_t count, uint64_t seed, double scale = 1) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(scale * random.normal());
  return values;
}

inline std::vector<double> doubles(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

// `rows` rows of `dim` values spread to rows `stride` apart, with `filler` between them.
inline std::vector<float> spread(const std::vector<float>& dense, int64_t rows, int64_t dim,
                                 int64_t stride, float filler = 99) {
  std::vector<float> out(rows * stride, filler);
  for (int64_t i = 0; i < rows; ++i) {
    std::copy_n(dense.begin() + i * dim, dim, out.begin() + i * stride);
  }
  return out;
}

// The largest |a - b|; what lies between the rows of `a` is not looked at.
template <class A, class B>
double distance(const A& a, const B& b, int64_t dim = 1, int64_t a_stride = 1) {
  double largest = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    const double difference = a[i / dim * a_stride + i % dim] - static_cast<double>(b[i]);
    if (!(std::abs(difference) <= largest)) largest = std::abs(difference);  // keeps NaN
    if (std::isnan(difference)) return difference;
  }
  return largest;
}

template <class A>
double largest_of(const A& values) {
  double largest = 0;
  for (const auto value : values) largest = std::max<double>(largest, std::abs(value));
  return largest;
}

// Runs `body` once for each compiled instruction set that this machine has.
inline void for_every_target(const std::function<void()>& body) {
  int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
  while (targets != 0) {
    const int64_t target = targets & -targets;
    targets ^= target;
    hwy::SetSupportedTargetsForTest(target);
    SCOPED_TRACE(hwy::TargetName(target));
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
}

// The derivative of f at x by central differences, one coordinate at a time.
inline std::vector<double> slope(std::vector<double>& x, const std::function<double()>& f,
                                 double step = 1e-5) {
  std::vector<double> gradient(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const double middle = x[i];
    x[i] = middle + step;
    const double above = f();
    x[i] = middle - step;
    gradient[i] = (above - f()) / (2 * step);
    x[i] = middle;
  }
  return gradient;
}

inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace soft::test
