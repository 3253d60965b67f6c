#include "plot/label_places.h"

#include <algorithm>
#include <limits>

#include "plot/font.h"

namespace soft {
namespace {

constexpr double kGap = 7, kRadius = 5;

double overlap(const LabelArea& a, const LabelArea& b) {
  const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  return width > 0 && height > 0 ? width * height : 0;
}

double outside(const LabelArea& box, const LabelArea& area) {
  return std::max(0.0, area.left - box.left) + std::max(0.0, box.right - area.right) +
         std::max(0.0, area.top - box.top) + std::max(0.0, box.bottom - area.bottom);
}

// Right, left, above, below, and farther off.
std::vector<LabelArea> boxes_around(Point point, double width, double height) {
  std::vector<LabelArea> boxes;
  for (const double away : {kGap, 2.2 * kGap, 4.0 * kGap}) {
    const double middle = point.y - height / 2;
    boxes.push_back({point.x + away, middle, point.x + away + width, middle + height});
    boxes.push_back({point.x - away - width, middle, point.x - away, middle + height});
    const double left = point.x - width / 2;
    boxes.push_back({left, point.y - away - height, left + width, point.y - away});
    boxes.push_back({left, point.y + away, left + width, point.y + away + height});
  }
  return boxes;
}

}  // namespace

std::vector<Point> label_places(const std::vector<Point>& points,
                                const std::vector<std::string>& names, double size,
                                const LabelArea& area) {
  std::vector<LabelArea> taken;
  for (const Point& point : points) {
    taken.push_back({point.x - kRadius, point.y - kRadius, point.x + kRadius, point.y + kRadius});
  }
  std::vector<Point> places;
  for (size_t i = 0; i < points.size(); ++i) {
    LabelArea best;
    double least = std::numeric_limits<double>::infinity();
    for (const LabelArea& box : boxes_around(points[i], text_width(names[i], size), size)) {
      double covered = 1e3 * outside(box, area);
      for (const LabelArea& other : taken) covered += overlap(box, other);
      if (covered < least) {
        least = covered;
        best = box;
      }
    }
    taken.push_back(best);
    places.push_back({best.left, best.bottom - 0.2 * size});
  }
  return places;
}

}  // namespace soft
