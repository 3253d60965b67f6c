// Places for names beside points, so that they cover neither each other nor the points nor a line.
#pragma once

#include <string>
#include <vector>

#include "plot/drawing.h"

namespace soft {

struct LabelArea {
  double left = 0, top = 0, right = 0, bottom = 0;
};

struct NamesOfPoints {
  std::vector<Point> points;
  std::vector<std::string> names;
  std::vector<Point> line;  // that goes through some of them; names keep off it
  double size = 10;         // of the letters
};

// The box of each name, inside `area`: the nearest free one of many around its point, and the one
// that covers least where none is free. Names give way to each other in turns until none moves.
std::vector<LabelArea> label_places(const NamesOfPoints& named, const LabelArea& area);

double overlap(const LabelArea& a, const LabelArea& b);  // square pixels

// From the point to the nearest place of its name's box, where that is so far off that one may
// doubt whose name it is; else empty.
std::vector<Point> leader(Point point, const LabelArea& box);

}  // namespace soft
