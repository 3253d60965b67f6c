// Which elements of a row dropout.h drops: numbers that the vector code and its plain form share.
#pragma once

#include <cmath>

#include "kernels/dropout.h"

namespace soft {

constexpr uint32_t kSpread1 = 0x85ebca6bU, kSpread2 = 0xc2b2ae35U, kColumnStep = 0x9e3779b9U;

// A number for a place, evenly spread over 32 bits.
inline uint32_t spread(uint32_t x) {
  x = (x ^ (x >> 16)) * kSpread1;
  x = (x ^ (x >> 13)) * kSpread2;
  return x ^ (x >> 16);
}

// What is the same for all elements of a row.
struct DropRule {
  uint32_t row;      // where the hash begins
  uint32_t dropped;  // of 2^24
  float kept;        // 1 / (1 - rate)
};

inline DropRule drop_rule(const Dropout& dropout, int64_t row) {
  const auto low = static_cast<uint32_t>(dropout.seed);
  const auto high = static_cast<uint32_t>(dropout.seed >> 32);
  return {spread(spread(low ^ static_cast<uint32_t>(row)) + high),
          static_cast<uint32_t>(std::lround(dropout.rate * 16777216.0)), 1 / (1 - dropout.rate)};
}

}  // namespace soft
