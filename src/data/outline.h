// Signed distances, negative inside, of shapes about the origin that fill a circle of radius 1;
// what `shapes` and `cue` are drawn from.
#pragma once

#include <algorithm>
#include <cmath>

namespace soft::outline {

struct Spot {
  double x = 0, y = 0;
};

inline double disc(Spot p) { return std::hypot(p.x, p.y) - 1; }

inline double box(Spot p, double half_width, double half_height) {
  return std::max(std::abs(p.x) - half_width, std::abs(p.y) - half_height);
}

inline double triangle(Spot p) {
  constexpr double kHalfRoot3 = 0.8660254037844386;
  return std::max({p.y, kHalfRoot3 * p.x - 0.5 * p.y, -kHalfRoot3 * p.x - 0.5 * p.y}) - 0.5;
}

inline double diamond(Spot p) { return (std::abs(p.x) + std::abs(p.y) - 1) * M_SQRT1_2; }

// How much of a pixel lies inside, for the distance of its centre in pixels.
inline double covered(double distance) { return std::clamp(0.5 - distance, 0.0, 1.0); }

}  // namespace soft::outline
