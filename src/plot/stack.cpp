#include <algorithm>

#include "plot/drawing.h"

namespace soft {
namespace {

struct Lower {
  double by;

  void operator()(Stroke& stroke) const {
    for (Point& point : stroke.points) point.y += by;
  }
  void operator()(Block& block) const { block.corner.y += by; }
  void operator()(Dot& dot) const { dot.centre.y += by; }
  void operator()(Label& label) const { label.base.y += by; }
};

}  // namespace

Drawing stacked(Drawing top, Drawing bottom) {
  for (Shape& shape : bottom.shapes) std::visit(Lower{static_cast<double>(top.height)}, shape);
  top.shapes.insert(top.shapes.end(), bottom.shapes.begin(), bottom.shapes.end());
  top.title += ", " + bottom.title;
  top.width = std::max(top.width, bottom.width);
  top.height += bottom.height;
  return top;
}

}  // namespace soft
