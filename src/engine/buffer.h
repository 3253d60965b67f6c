// A block of floats that starts on a cache line, uninitialised.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "kernels/rows.h"

namespace soft {

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(int64_t size) : size_(padded(size)) {
    if (size_ == 0) return;
    data_.reset(static_cast<float*>(std::aligned_alloc(64, size_ * sizeof(float))));
    if (!data_) throw std::bad_alloc();
  }

  float* data() const { return data_.get(); }
  size_t bytes() const { return static_cast<size_t>(size_) * sizeof(float); }

 private:
  struct Free {
    void operator()(float* memory) const { std::free(memory); }
  };
  int64_t size_ = 0;
  std::unique_ptr<float, Free> data_;
};

}  // namespace soft
