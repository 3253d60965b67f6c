// Cuts one block of the caller's floats into pieces, each starting on a cache line. Without a block
// it only counts, so that a layout and its size are one piece of code.
#pragma once

#include "kernels/rows.h"

namespace soft {

class Carver {
 public:
  explicit Carver(float* memory) : memory_(memory) {}

  float* take(int64_t count) {
    float* piece = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += padded(count);
    return piece;
  }
  int64_t used() const { return used_; }

 private:
  float* memory_;
  int64_t used_ = 0;
};

}  // namespace soft
