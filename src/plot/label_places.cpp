#include "plot/label_places.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "plot/font.h"

namespace soft {
namespace {

constexpr double kGap = 7, kRadius = 5;
constexpr double kFar = 14;  // from here on a name wants a line to its point
constexpr int kDirections = 16, kRings = 9, kRounds = 6;

double outside(const LabelArea& box, const LabelArea& area) {
  return std::max(0.0, area.left - box.left) + std::max(0.0, box.right - area.right) +
         std::max(0.0, area.top - box.top) + std::max(0.0, box.bottom - area.bottom);
}

// Touching at all is worse than any way between a name and its point.
double burden(double covered) { return covered > 0 ? 50 + 3 * covered : 0; }

LabelArea around(Point point, double radius) {
  return {point.x - radius, point.y - radius, point.x + radius, point.y + radius};
}

// Rings of boxes: right and left first, then every other direction.
std::vector<LabelArea> boxes_around(Point point, double width, double height) {
  std::vector<LabelArea> boxes;
  for (int ring = 0; ring < kRings; ++ring) {
    const double away = kGap * (1 + 0.8 * ring);
    for (int i = 0; i < kDirections; ++i) {
      const int direction = (i % 2 == 0 ? i : i + kDirections - 1) / 2 % kDirections;
      const double angle = 2 * M_PI * direction / kDirections;
      const double x = std::cos(angle), y = -std::sin(angle);
      const double left = point.x + away * x - width * (1 - x) / 2;
      const double top = point.y + away * y - height * (1 - y) / 2;
      boxes.push_back({left, top, left + width, top + height});
    }
  }
  return boxes;
}

// A line as small boxes that no name should cover.
std::vector<LabelArea> boxes_along(const std::vector<Point>& line) {
  constexpr double kStep = 4;
  std::vector<LabelArea> boxes;
  for (size_t i = 1; i < line.size(); ++i) {
    const double dx = line[i].x - line[i - 1].x, dy = line[i].y - line[i - 1].y;
    const int steps = std::max(1, static_cast<int>(std::hypot(dx, dy) / kStep));
    for (int s = 0; s <= steps; ++s) {
      boxes.push_back(around({line[i - 1].x + dx * s / steps, line[i - 1].y + dy * s / steps}, 2));
    }
  }
  return boxes;
}

class Placing {
 public:
  Placing(const NamesOfPoints& named, const LabelArea& area)
      : named_(named), area_(area), fixed_(boxes_along(named.line)) {
    for (const Point& point : named.points) fixed_.push_back(around(point, kRadius));
  }

  std::vector<LabelArea> run() {
    boxes_.assign(named_.points.size(), LabelArea{});
    for (int round = 0; round < kRounds; ++round) {
      bool moved = false;
      for (size_t i = 0; i < boxes_.size(); ++i) moved = place(i) || moved;
      if (!moved) break;
    }
    return boxes_;
  }

 private:
  // What a box covers, and a little for every pixel between it and its point.
  double cost(size_t own, const LabelArea& box) const {
    double sum = 1e3 * outside(box, area_);
    for (const LabelArea& other : fixed_) sum += burden(overlap(box, other));
    for (size_t i = 0; i < boxes_.size(); ++i) {
      if (i != own) sum += burden(overlap(box, boxes_[i]));
    }
    const std::vector<Point> line = leader(named_.points[own], box);
    if (!line.empty()) {
      sum += 0.5 * std::hypot(line[1].x - line[0].x, line[1].y - line[0].y);
      for (const LabelArea& crossed : boxes_along(line)) {
        for (size_t i = 0; i < boxes_.size(); ++i) {
          if (i != own) sum += overlap(crossed, boxes_[i]);
        }
      }
    }
    return sum;
  }

  bool place(size_t i) {
    const LabelArea before = boxes_[i];
    const double width = text_width(named_.names[i], named_.size);
    double least = std::numeric_limits<double>::infinity();
    for (const LabelArea& box : boxes_around(named_.points[i], width, named_.size)) {
      const double covered = cost(i, box);
      if (covered >= least) continue;
      least = covered;
      boxes_[i] = box;
    }
    return before.left != boxes_[i].left || before.top != boxes_[i].top;
  }

  const NamesOfPoints& named_;
  LabelArea area_;
  std::vector<LabelArea> fixed_;
  std::vector<LabelArea> boxes_;
};

}  // namespace

double overlap(const LabelArea& a, const LabelArea& b) {
  const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  return width > 0 && height > 0 ? width * height : 0;
}

std::vector<Point> leader(Point point, const LabelArea& box) {
  const Point near{std::clamp(point.x, box.left, box.right),
                   std::clamp(point.y, box.top, box.bottom)};
  if (std::hypot(near.x - point.x, near.y - point.y) < kFar) return {};
  return {point, near};
}

std::vector<LabelArea> label_places(const NamesOfPoints& named, const LabelArea& area) {
  return Placing(named, area).run();
}

}  // namespace soft
