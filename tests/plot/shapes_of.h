// What a drawing consists of.
#pragma once

#include <variant>
#include <vector>

#include "plot/drawing.h"

namespace soft {

template <typename Kind>
std::vector<Kind> shapes_of(const Drawing& drawing) {
  std::vector<Kind> found;
  for (const Shape& shape : drawing.shapes) {
    if (const auto* match = std::get_if<Kind>(&shape)) found.push_back(*match);
  }
  return found;
}

}  // namespace soft
