// Named points: some of them highlighted and joined by a line, and names that do not cover each
// other.
#pragma once

#include <string>
#include <vector>

#include "plot/chart.h"

namespace soft {

struct NamedPoint {
  Point at;  // one that is not finite, or not positive on a log axis, is left out
  std::string name;
  bool highlighted = false;
};

struct ScatterChart {
  std::string title;
  Axis x, y;
  std::vector<NamedPoint> points;
};

Drawing draw(const ScatterChart& chart);

}  // namespace soft
