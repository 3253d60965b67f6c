// Every shape is a distance: a pixel is covered as far as its middle lies inside, over the width of
// one pixel, which is all the smoothing that lines, dots and letters need.
#include <algorithm>
#include <cmath>

#include "plot/drawing.h"
#include "plot/font.h"

namespace soft {
namespace {

struct Canvas {
  Pixels pixels;
  double scale;

  void blend(int x, int y, Colour colour, double cover) {
    uint8_t* at = &pixels.rgb[3 * (static_cast<size_t>(y) * pixels.width + x)];
    const uint8_t channels[3] = {colour.r, colour.g, colour.b};
    for (int c = 0; c < 3; ++c) {
      at[c] = static_cast<uint8_t>(std::lround(at[c] + cover * (channels[c] - at[c])));
    }
  }

  // Calls cover(middle of a pixel) in a rectangle around the shape, in scaled pixels.
  template <typename Cover>
  void fill(Point low, Point high, Colour colour, const Cover& cover) {
    const int x0 = std::max(0, static_cast<int>(std::floor(low.x)));
    const int y0 = std::max(0, static_cast<int>(std::floor(low.y)));
    const int x1 = std::min(pixels.width, static_cast<int>(std::ceil(high.x)) + 1);
    const int y1 = std::min(pixels.height, static_cast<int>(std::ceil(high.y)) + 1);
    for (int y = y0; y < y1; ++y) {
      for (int x = x0; x < x1; ++x) {
        const double share = std::clamp(cover(Point{x + 0.5, y + 0.5}), 0.0, 1.0);
        if (share > 0) blend(x, y, colour, share);
      }
    }
  }
};

double distance_to_segment(Point p, Point a, Point b) {
  const double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
  const double t =
      length > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0, 1.0) : 0;
  return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

// One stroke of the pen; the whole path is one shape, so that its joints are not painted twice.
void paint_path(Canvas& canvas, const std::vector<Point>& path, double width, Colour colour) {
  if (path.empty()) return;
  const double half = width / 2;
  for (size_t i = 0; i + 1 < std::max<size_t>(path.size(), 2); ++i) {
    const Point a = path[i], b = path[std::min(i + 1, path.size() - 1)];
    const bool joined = i > 0;
    canvas.fill({std::min(a.x, b.x) - half - 1, std::min(a.y, b.y) - half - 1},
                {std::max(a.x, b.x) + half + 1, std::max(a.y, b.y) + half + 1}, colour,
                [&](Point p) {
                  const double cover = half + 0.5 - distance_to_segment(p, a, b);
                  if (!joined) return cover;
                  const double before = half + 0.5 - distance_to_segment(p, path[i - 1], a);
                  return before >= cover ? 0.0 : cover;
                });
  }
}

std::vector<std::vector<Point>> dashes_of(const std::vector<Point>& path, double on, double off) {
  std::vector<std::vector<Point>> dashes;
  double at = 0;
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    const Point a = path[i], b = path[i + 1];
    const double length = std::hypot(b.x - a.x, b.y - a.y);
    const auto along = [&](double t) {
      return Point{a.x + (b.x - a.x) * t / length, a.y + (b.y - a.y) * t / length};
    };
    for (double t = 0; t < length;) {
      const double phase = std::fmod(at + t, on + off);
      const double next = std::min(length, t + (phase < on ? on : on + off) - phase + 1e-6);
      if (phase < on) dashes.push_back({along(t), along(next)});
      t = next;
    }
    at += length;
  }
  return dashes;
}

struct Painter {
  Canvas canvas;

  Point scaled(Point p) const { return {p.x * canvas.scale, p.y * canvas.scale}; }

  void operator()(const Stroke& s) {
    std::vector<Point> path;
    for (const Point& p : s.points) path.push_back(scaled(p));
    const double width = s.width * canvas.scale;
    if (!s.dashed) return paint_path(canvas, path, width, s.colour);
    for (const auto& dash : dashes_of(path, 7 * canvas.scale, 5 * canvas.scale)) {
      paint_path(canvas, dash, width, s.colour);
    }
  }
  void operator()(const Block& b) {
    const Point low = scaled(b.corner);
    const Point high = scaled({b.corner.x + b.width, b.corner.y + b.height});
    canvas.fill(low, high, b.colour, [&](Point p) {
      const double x = std::min(p.x + 0.5, high.x) - std::max(p.x - 0.5, low.x);
      const double y = std::min(p.y + 0.5, high.y) - std::max(p.y - 0.5, low.y);
      return std::max(0.0, x) * std::max(0.0, y);
    });
  }
  void operator()(const Dot& d) {
    const Point c = scaled(d.centre);
    const double r = d.radius * canvas.scale;
    canvas.fill({c.x - r - 1, c.y - r - 1}, {c.x + r + 1, c.y + r + 1}, d.colour,
                [&](Point p) { return r + 0.5 - std::hypot(p.x - c.x, p.y - c.y); });
  }
  void operator()(const Label& l) {
    const double shift = text_width(l.text, l.size) * (l.anchor == Anchor::kStart    ? 0
                                                       : l.anchor == Anchor::kMiddle ? 0.5
                                                                                     : 1);
    for (std::vector<Point> path : text_strokes(l.text, l.size)) {
      for (Point& p : path) {
        const double along = p.x - shift;
        p = scaled(l.upwards ? Point{l.base.x + p.y, l.base.y - along}
                             : Point{l.base.x + along, l.base.y + p.y});
      }
      paint_path(canvas, path, l.size / 11 * canvas.scale, l.colour);
    }
  }
};

}  // namespace

Pixels to_pixels(const Drawing& drawing, int scale) {
  Pixels blank{drawing.width * scale, drawing.height * scale, {}};
  blank.rgb.assign(3 * static_cast<size_t>(blank.width) * blank.height, 255);
  Painter painter{{std::move(blank), static_cast<double>(scale)}};
  for (const Shape& shape : drawing.shapes) std::visit(painter, shape);
  return std::move(painter.canvas.pixels);
}

}  // namespace soft
