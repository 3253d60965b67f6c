// The height and width of a picture or of a map of tokens. Sequences are grids of width 1.
#pragma once

#include <cstdint>

namespace soft {

struct Grid {
  int64_t h = 0;
  int64_t w = 0;
  int64_t size() const { return h * w; }
  friend bool operator==(Grid a, Grid b) { return a.h == b.h && a.w == b.w; }
  friend bool operator!=(Grid a, Grid b) { return !(a == b); }
};

}  // namespace soft
