// The plain form of kernels/dropout.h, one element at a time, and the numbers that both share.
#pragma once

#include <cmath>

#include "kernels/dropout.h"

namespace soft {

// What is the same for all elements of a row.
struct DropRule {
  uint32_t row;      // where the hash begins
  uint32_t dropped;  // of 2^24
  float kept;        // 1 / (1 - rate)
};

namespace plain {

constexpr uint32_t kSpread1 = 0x85ebca6bU, kSpread2 = 0xc2b2ae35U, kColumnStep = 0x9e3779b9U;

// A number for a place, evenly spread over 32 bits.
inline uint32_t spread(uint32_t x) {
  x = (x ^ (x >> 16)) * kSpread1;
  x = (x ^ (x >> 13)) * kSpread2;
  return x ^ (x >> 16);
}

}  // namespace plain

inline DropRule drop_rule(const Dropout& dropout, int64_t row) {
  const auto low = static_cast<uint32_t>(dropout.seed);
  const auto high = static_cast<uint32_t>(dropout.seed >> 32);
  return {plain::spread(plain::spread(low ^ static_cast<uint32_t>(row)) + high),
          static_cast<uint32_t>(std::lround(dropout.rate * 16777216.0)), 1 / (1 - dropout.rate)};
}

namespace plain {

template <class T>
T dropped(const DropRule& rule, int64_t column, T x) {
  const uint32_t drawn = spread(rule.row + kColumnStep * static_cast<uint32_t>(column));
  return (drawn >> 8) < rule.dropped ? T(0) : x * T(rule.kept);
}

}  // namespace plain
}  // namespace soft
