// The fixed-point weights of a resize along one axis, Pillow's number for number: the filter is
// stretched by the scale when shrinking (antialias), cut at the picture's edge and made to sum to
// one.
#pragma once

#include <cstdint>
#include <vector>

#include "image/transform.h"
#include "kernels/resample.h"

namespace soft {

// An axis of `inputs` pixels, of which [begin, end) becomes `outputs` pixels.
struct ResizeAxis {
  int inputs = 0;
  double begin = 0, end = 0;
  int64_t outputs = 0;
};

struct ResizeWindows {
  int taps = 0;
  std::vector<int32_t> first;    // [count], never decreasing
  std::vector<int32_t> weights;  // [count, taps]

  int begin() const { return first.front(); }      // the inputs that are read at all:
  int end() const { return first.back() + taps; }  // [begin, end)
  ResampleWindows view() const {
    return {static_cast<int>(first.size()), taps, first.data(), weights.data()};
  }
};

// For the outputs [from, from + count) only.
ResizeWindows windows_of(const ResizeAxis& axis, Filter filter, int64_t from, int count);

}  // namespace soft
