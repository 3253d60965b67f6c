#include "image/colour_map.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace soft {
namespace {

constexpr int kShades = 256;
constexpr int kStepsBetween = 64;  // points of the curve between two of its corners

struct Oklab {
  double l, a, b;
};

// Lightness, chroma and hue in degrees. The corners were chosen so that the whole curve lies inside
// sRGB and its lightness always grows.
struct Corner {
  double lightness, chroma, hue;
};
constexpr Corner kZero{0.16, 0.04, 290};
constexpr std::array<Corner, 5> kWarm{
    {kZero, {0.36, 0.15, 315}, {0.56, 0.20, 15}, {0.75, 0.155, 55}, {0.95, 0.10, 103}}};
constexpr std::array<Corner, 5> kCool{
    {kZero, {0.36, 0.13, 268}, {0.54, 0.135, 255}, {0.74, 0.115, 228}, {0.95, 0.05, 200}}};

Oklab oklab_of(const Corner& corner) {
  const double hue = corner.hue * M_PI / 180;
  return {corner.lightness, corner.chroma * std::cos(hue), corner.chroma * std::sin(hue)};
}

Oklab blend(const Oklab& from, const Oklab& to, double t) {
  return {from.l + t * (to.l - from.l), from.a + t * (to.a - from.a), from.b + t * (to.b - from.b)};
}

double distance(const Oklab& x, const Oklab& y) {
  return std::sqrt((x.l - y.l) * (x.l - y.l) + (x.a - y.a) * (x.a - y.a) +
                   (x.b - y.b) * (x.b - y.b));
}

// A smooth curve through four points in a row, between the two in the middle (Catmull-Rom).
double smooth(double p0, double p1, double p2, double p3, double t) {
  return p1 +
         0.5 * t * (p2 - p0 + t * (2 * p0 - 5 * p1 + 4 * p2 - p3 + t * (3 * (p1 - p2) + p3 - p0)));
}

std::vector<Oklab> curve_through(const std::array<Corner, 5>& corners) {
  const auto at = [&](int i) { return oklab_of(corners[std::clamp(i, 0, 4)]); };
  std::vector<Oklab> curve;
  for (int i = 0; i < 4; ++i) {
    const Oklab p = at(i - 1), q = at(i), r = at(i + 1), s = at(i + 2);
    for (int step = 0; step < kStepsBetween; ++step) {
      const double t = static_cast<double>(step) / kStepsBetween;
      curve.push_back({smooth(p.l, q.l, r.l, s.l, t), smooth(p.a, q.a, r.a, s.a, t),
                       smooth(p.b, q.b, r.b, s.b, t)});
    }
  }
  curve.push_back(at(4));
  return curve;
}

uint8_t to_srgb(double linear) {
  const double value =
      linear <= 0.0031308 ? 12.92 * linear : 1.055 * std::pow(linear, 1 / 2.4) - 0.055;
  return static_cast<uint8_t>(std::lround(255 * std::clamp(value, 0.0, 1.0)));
}

// Ottosson's matrices.
Colour colour_of(const Oklab& lab) {
  const auto cube = [](double x) { return x * x * x; };
  const double l = cube(lab.l + 0.3963377774 * lab.a + 0.2158037573 * lab.b);
  const double m = cube(lab.l - 0.1055613458 * lab.a - 0.0638541728 * lab.b);
  const double s = cube(lab.l - 0.0894841775 * lab.a - 1.2914855480 * lab.b);
  return {to_srgb(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          to_srgb(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          to_srgb(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

using Shades = std::array<Colour, kShades>;

// Shades at equal distances along the curve.
Shades shades_along(const std::array<Corner, 5>& corners) {
  const std::vector<Oklab> curve = curve_through(corners);
  std::vector<double> length{0};  // up to each point
  for (size_t i = 1; i < curve.size(); ++i) {
    length.push_back(length.back() + distance(curve[i - 1], curve[i]));
  }
  Shades shades;
  size_t next = 1;
  for (int i = 0; i < kShades; ++i) {
    const double wanted = length.back() * i / (kShades - 1);
    while (next + 1 < curve.size() && length[next] < wanted) ++next;
    const double t = (wanted - length[next - 1]) / (length[next] - length[next - 1]);
    shades[i] = colour_of(blend(curve[next - 1], curve[next], t));
  }
  return shades;
}

}  // namespace

Colour heat_colour(float value) {
  static const Shades warm = shades_along(kWarm), cool = shades_along(kCool);
  const float size = std::min(std::abs(value), 1.0f);
  const auto shade = static_cast<size_t>(std::lround(size * (kShades - 1)));
  return value < 0 ? cool[shade] : warm[shade];
}

}  // namespace soft
