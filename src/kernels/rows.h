// Rows of floats inside a wider array: the tokens of one head live in [n, C] as n rows of d = C/h
// floats that stand C apart.
#pragma once

#include <cstdint>

namespace soft {

struct ConstRows {
  const float* data = nullptr;
  int64_t stride = 0;  // floats from one row to the next

  const float* row(int64_t i) const { return data + i * stride; }
  explicit operator bool() const { return data != nullptr; }
};

struct Rows {
  float* data = nullptr;
  int64_t stride = 0;

  float* row(int64_t i) const { return data + i * stride; }
  operator ConstRows() const { return {data, stride}; }
  explicit operator bool() const { return data != nullptr; }
};

// Inner arrays are padded to this many floats (one cache line, one AVX-512 vector), so that vector
// code needs no tails.
constexpr int64_t kPad = 16;
constexpr int64_t padded(int64_t count) { return (count + kPad - 1) / kPad * kPad; }

}  // namespace soft
