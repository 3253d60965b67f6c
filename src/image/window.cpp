#include "image/window.h"

#include <algorithm>
#include <cmath>

namespace soft {
namespace {

double triangle(double x) { return std::max(0.0, 1.0 - std::abs(x)); }

// Keys' cubic with a = -0.5.
double cubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

struct Shape {
  double (*value)(double);
  double support;
};

Shape shape_of(Filter filter) {
  return filter == Filter::kBilinear ? Shape{triangle, 1} : Shape{cubic, 2};
}

struct Span {
  int first, count;
};

// Where the window of each output lies.
struct Geometry {
  ResizeAxis axis;
  double scale, stretch, support;

  // The edges are single precision, as in Pillow; it shows in the last bit of fractional boxes.
  Geometry(const ResizeAxis& a, const Shape& shape) : axis(a) {
    const float length = static_cast<float>(a.end) - static_cast<float>(a.begin);
    scale = static_cast<double>(length) / static_cast<double>(a.outputs);
    stretch = std::max(scale, 1.0);
    support = shape.support * stretch;
  }
  double centre(int64_t output) const {
    return static_cast<float>(axis.begin) + (static_cast<double>(output) + 0.5) * scale;
  }
  Span span(int64_t output) const {
    const double middle = centre(output);
    const int first = std::max(static_cast<int>(std::floor(middle - support + 0.5)), 0);
    const int last = std::min(static_cast<int>(std::floor(middle + support + 0.5)), axis.inputs);
    return {first, last - first};
  }
};

int32_t to_fixed(double weight) {
  const double scaled = weight * (1 << kWeightBits);
  return static_cast<int32_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}

// The weights of one output's inputs, which sum to one before they are rounded.
void weigh(const Geometry& geometry, const Shape& shape, int64_t output,
           std::vector<double>& values, int32_t* weights) {
  const Span span = geometry.span(output);
  const double centre = geometry.centre(output);
  double sum = 0;
  for (int t = 0; t < span.count; ++t) {
    values[t] = shape.value((t + span.first - centre + 0.5) * (1.0 / geometry.stretch));
    sum += values[t];
  }
  for (int t = 0; t < span.count; ++t) {
    weights[t] = to_fixed(sum != 0 ? values[t] / sum : values[t]);
  }
}

}  // namespace

ResizeWindows windows_of(const ResizeAxis& axis, Filter filter, int64_t from, int count) {
  const Shape shape = shape_of(filter);
  const Geometry geometry(axis, shape);
  ResizeWindows windows;
  for (int i = 0; i < count; ++i) {
    windows.taps = std::max(windows.taps, geometry.span(from + i).count);
  }
  windows.weights.resize(static_cast<size_t>(count) * windows.taps);
  std::vector<double> values(windows.taps);
  for (int i = 0; i < count; ++i) {
    // A window cut short by the far edge starts earlier, with zeros, so that it keeps inside.
    const int natural = geometry.span(from + i).first;
    const int first = std::min(natural, axis.inputs - windows.taps);
    windows.first.push_back(first);
    int32_t* weights = windows.weights.data() + static_cast<size_t>(i) * windows.taps;
    weigh(geometry, shape, from + i, values, weights + (natural - first));
  }
  return windows;
}

}  // namespace soft
