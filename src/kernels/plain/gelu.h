// The plain form of kernels/gelu.h: value and derivative at one point.
#pragma once

#include <cmath>

#include "kernels/gelu.h"

namespace soft::plain {

template <class T>
T gelu(GeluForm form, T x) {
  if (form == GeluForm::kErf) return x / 2 * (1 + std::erf(x / std::sqrt(T(2))));
  const T u = std::sqrt(T(2 / M_PI)) * (x + T(0.044715) * x * x * x);
  return x / 2 * (1 + std::tanh(u));
}

template <class T>
T gelu_slope(GeluForm form, T x) {
  if (form == GeluForm::kErf) {
    const T density = std::exp(-x * x / 2) / std::sqrt(T(2 * M_PI));
    return (1 + std::erf(x / std::sqrt(T(2)))) / 2 + x * density;
  }
  const T k = std::sqrt(T(2 / M_PI));
  const T t = std::tanh(k * (x + T(0.044715) * x * x * x));
  return (1 + t) / 2 + x / 2 * (1 - t * t) * k * (1 + 3 * T(0.044715) * x * x);
}

}  // namespace soft::plain
