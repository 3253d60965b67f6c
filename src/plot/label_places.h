// Places for names beside points, so that they cover neither each other nor the points.
#pragma once

#include <string>
#include <vector>

#include "plot/drawing.h"

namespace soft {

struct LabelArea {
  double left = 0, top = 0, right = 0, bottom = 0;
};

// The baseline's beginning of each name, inside `area`: the first free one of twelve places around
// its point, nearer ones first; the one that covers least where none is free.
std::vector<Point> label_places(const std::vector<Point>& points,
                                const std::vector<std::string>& names, double size,
                                const LabelArea& area);

}  // namespace soft
