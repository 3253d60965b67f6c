// Charts that are fit for a paper: lines with linear or logarithmic axes, and grouped bars.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plot/drawing.h"

namespace soft {

struct Axis {
  std::string label;
  bool log = false;
  std::optional<double> low, high;  // default: what the values need
};

struct Series {
  std::string name;
  std::vector<Point>
      points;  // those that are not finite, or not positive on a log axis, are left out
  bool dashed = false;
};

struct LineChart {
  std::string title;
  Axis x, y;
  std::vector<Series> series;
  bool dots = true;  // a dot on every point
};

struct BarSet {
  std::string name;
  std::vector<double> values;  // one for each group
};

struct BarChart {
  std::string title;
  Axis y;
  std::vector<std::string> groups;
  std::vector<BarSet> sets;
};

Drawing draw(const LineChart& chart);
Drawing draw(const BarChart& chart);

}  // namespace soft
