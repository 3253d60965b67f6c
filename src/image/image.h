// A picture in memory: 8-bit RGB, rows from the top, three bytes a pixel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/grid.h"

namespace soft {

struct Image {
  int width = 0;
  int height = 0;
  std::vector<uint8_t> rgb;  // [height, width, 3]

  Image() = default;
  Image(int w, int h) : width(w), height(h), rgb(size_t{3} * w * h) {}
  uint8_t* pixel(int x, int y) { return rgb.data() + 3 * (static_cast<size_t>(y) * width + x); }
  const uint8_t* pixel(int x, int y) const {
    return rgb.data() + 3 * (static_cast<size_t>(y) * width + x);
  }
  Grid grid() const { return {height, width}; }
};

}  // namespace soft
