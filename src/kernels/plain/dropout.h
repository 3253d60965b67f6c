// The plain form of kernels/dropout.h, one element at a time.
#pragma once

#include "kernels/drop_rule.h"

namespace soft::plain {

template <class T>
T dropped(const DropRule& rule, int64_t column, T x) {
  const uint32_t drawn = spread(rule.row + kColumnStep * static_cast<uint32_t>(column));
  return (drawn >> 8) < rule.dropped ? T(0) : x * T(rule.kept);
}

}  // namespace soft::plain
