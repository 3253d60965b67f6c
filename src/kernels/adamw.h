// A step of AdamW over flat memory, everything that it does to a number in one pass.
//   g = clip·gradient
//   m = β1·m + gain1·g        gain = 1 - β, rounded once
//   v = β2·v + gain2·g²
//   p = keep·p - rate·m / (sqrt(v) / correction + ε)
#pragma once

#include <cstdint>

namespace soft {

struct AdamWStep {
  float clip = 1;
  float beta1 = 0.9f, gain1 = 0.1f;
  float beta2 = 0.999f, gain2 = 1e-3f;
  float epsilon = 1e-8f;
  float keep = 1;        // 1 - learning rate · weight decay
  float rate = 0;        // learning rate / (1 - β1^t)
  float correction = 1;  // sqrt(1 - β2^t)
};

struct AdamWSlice {
  int64_t count = 0;
  const float* gradient = nullptr;
  float *parameter = nullptr, *mean = nullptr, *square = nullptr;
};

void adamw(const AdamWStep& step, const AdamWSlice& slice);

// In double precision; the order depends on nothing but `count` and the instruction set.
double sum_of_squares(const float* values, int64_t count);

}  // namespace soft
