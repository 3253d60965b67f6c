#include "image/affine.h"

#include <algorithm>
#include <cmath>

namespace soft {
namespace {

// Pillow rounds sine and cosine to 15 decimals, which makes quarter turns exact.
double round15(double x) { return std::nearbyint(x * 1e15) / 1e15; }

double cubic(double a, double b, double c, double d, double t) {
  const double p1 = c - a;
  const double p2 = 2 * (a - b) + c - d;
  const double p3 = -a + b - c + d;
  return b + t * (p1 + t * (p2 + t * p3));
}

uint8_t truncate(double value) {
  if (value <= 0) return 0;
  return value >= 255 ? 255 : static_cast<uint8_t>(value);
}

// Samples around (x, y), the edge pixels repeated outwards.
template <int kTaps>
struct Neighbourhood {
  const uint8_t* rows[kTaps];
  int columns[kTaps];  // byte offsets
  double dx, dy;

  Neighbourhood(const Image& image, double x, double y) {
    constexpr int kBefore = kTaps / 2 - 1;
    const double left = std::floor(x), top = std::floor(y);
    dx = x - left;
    dy = y - top;
    for (int i = 0; i < kTaps; ++i) {
      const int column = static_cast<int>(left) + i - kBefore;
      const int row = static_cast<int>(top) + i - kBefore;
      columns[i] = 3 * std::clamp(column, 0, image.width - 1);
      rows[i] = image.pixel(0, std::clamp(row, 0, image.height - 1));
    }
  }
};

void sample_bilinear(const Image& image, double x, double y, uint8_t* out) {
  const Neighbourhood<2> near(image, x, y);
  for (int channel = 0; channel < 3; ++channel) {
    double line[2];
    for (int i = 0; i < 2; ++i) {
      const uint8_t* row = near.rows[i] + channel;
      line[i] = row[near.columns[0]] + (row[near.columns[1]] - row[near.columns[0]]) * near.dx;
    }
    out[channel] = static_cast<uint8_t>(line[0] + (line[1] - line[0]) * near.dy);
  }
}

void sample_bicubic(const Image& image, double x, double y, uint8_t* out) {
  const Neighbourhood<4> near(image, x, y);
  for (int channel = 0; channel < 3; ++channel) {
    double line[4];
    for (int i = 0; i < 4; ++i) {
      const uint8_t* row = near.rows[i] + channel;
      line[i] = cubic(row[near.columns[0]], row[near.columns[1]], row[near.columns[2]],
                      row[near.columns[3]], near.dx);
    }
    out[channel] = truncate(cubic(line[0], line[1], line[2], line[3], near.dy));
  }
}

}  // namespace

AffineMap rotation(double degrees, int width, int height) {
  // Not std::remainder: Python's % keeps the sign of the divisor, and rounding follows it.
  double turn = std::fmod(degrees, 360.0);
  if (turn < 0) turn += 360.0;
  const double angle = -turn * (M_PI / 180.0);
  const double cosine = round15(std::cos(angle)), sine = round15(std::sin(angle));
  const double cx = width / 2.0, cy = height / 2.0;
  AffineMap map{cosine, sine, 0, -sine, cosine, 0};
  map.x0 = map.xx * -cx + map.xy * -cy + cx;
  map.y0 = map.yx * -cx + map.yy * -cy + cy;
  return map;
}

Image affine(const Image& image, const AffineMap& map, Filter filter,
             const std::array<uint8_t, 3>& fill) {
  const auto sample = filter == Filter::kBilinear ? sample_bilinear : sample_bicubic;
  Image out(image.width, image.height);
  uint8_t* pixel = out.rgb.data();
  for (int row = 0; row < image.height; ++row) {
    for (int column = 0; column < image.width; ++column, pixel += 3) {
      const double x = map.xx * (column + 0.5) + map.xy * (row + 0.5) + map.x0;
      const double y = map.yx * (column + 0.5) + map.yy * (row + 0.5) + map.y0;
      if (x >= 0 && x < image.width && y >= 0 && y < image.height) {
        sample(image, x - 0.5, y - 0.5, pixel);
      } else {
        std::copy(fill.begin(), fill.end(), pixel);
      }
    }
  }
  return out;
}

}  // namespace soft
