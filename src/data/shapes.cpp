// A data set that needs no files: one shape per picture, drawn anti-aliased from its signed
// distance. Colour, place, size, angle, background and noise are random and say nothing about the
// class.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/random.h"
#include "data/outline.h"
#include "data/source.h"

namespace soft {
namespace {

using namespace outline;  // NOLINT: a room of its own

constexpr int64_t kTrainCount = 20'000;
constexpr int64_t kValidationCount = 2'000;

enum class Shape {
  kCircle,
  kRing,
  kSquare,
  kFrame,
  kTriangle,
  kStar,
  kCross,
  kHorizontalStripes,
  kVerticalStripes,
  kCheckerboard,
};
const std::vector<std::string> kClasses{
    "circle",           "ring",        "square", "frame",
    "triangle",         "star",        "cross",  "horizontal stripes",
    "vertical stripes", "checkerboard"};

// Folded into one of its ten equal sectors, a star is bounded by a single line from the tip (1, 0)
// to the inner corner at 36 degrees.
double star(Spot p) {
  constexpr double kSector = M_PI / 5;
  constexpr double kInnerRadius = 0.42;
  const double turn = std::remainder(std::atan2(p.y, p.x), 2 * kSector);
  const double radius = std::hypot(p.x, p.y);
  const Spot folded{radius * std::cos(turn), radius * std::abs(std::sin(turn))};
  const Spot edge{kInnerRadius * std::cos(kSector) - 1, kInnerRadius * std::sin(kSector)};
  const double cross = edge.x * folded.y - edge.y * (folded.x - 1);
  return -cross / std::hypot(edge.x, edge.y);
}

// Bands of width 1/4 with gaps of the same width.
double bands(double x) { return std::abs(std::remainder(x, 0.5)) - 0.125; }

double checkerboard(Spot p) {
  const double across = bands(p.x + 0.125);
  const double down = bands(p.y + 0.125);
  return std::max(std::min(across, down), -std::max(across, down));  // in exactly one of the two
}

double distance(Shape shape, Spot p) {
  switch (shape) {
    case Shape::kCircle:
      return disc(p);
    case Shape::kRing:
      return std::abs(disc(p) + 0.25) - 0.2;
    case Shape::kSquare:
      return box(p, 0.8, 0.8);
    case Shape::kFrame:
      return std::abs(box(p, 0.65, 0.65)) - 0.17;
    case Shape::kTriangle:
      return triangle(p);
    case Shape::kStar:
      return star(p);
    case Shape::kCross:
      return std::min(box(p, 0.95, 0.28), box(p, 0.28, 0.95));
    case Shape::kHorizontalStripes:
      return std::max(box(p, 0.875, 0.75), bands(p.y));
    case Shape::kVerticalStripes:
      return std::max(box(p, 0.75, 0.875), bands(p.x));
    case Shape::kCheckerboard:
      return std::max(box(p, 0.875, 0.875), checkerboard(p));
  }
  return 1;
}

using Colour = std::array<double, 3>;

double brightness(const Colour& c) { return 0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2]; }

Colour random_colour(Random& random) {
  return {random.uniform(0, 255), random.uniform(0, 255), random.uniform(0, 255)};
}

// Everything random about one picture but its noise.
struct Scene {
  Shape shape = Shape::kCircle;
  Spot centre;  // pixels
  double radius = 1;
  Spot turn;  // (cos, sin) of its angle
  Colour ink{};
  Colour ground_from{}, ground_to{};  // a gradient across the picture…
  Spot slope;                         // …in this direction, per pixel
  double noise = 0;                   // largest deviation of a value
};

// Ink that can be told from both ends of the background; black or white when chance finds none.
Colour legible_ink(const Scene& scene, Random& random) {
  constexpr double kContrast = 60;
  const auto contrast = [&scene](const Colour& ink) {
    return std::min(std::abs(brightness(ink) - brightness(scene.ground_from)),
                    std::abs(brightness(ink) - brightness(scene.ground_to)));
  };
  for (int attempt = 0; attempt < 20; ++attempt) {
    const Colour ink = random_colour(random);
    if (contrast(ink) >= kContrast) return ink;
  }
  const Colour black{0, 0, 0};
  const Colour white{255, 255, 255};
  return contrast(black) > contrast(white) ? black : white;
}

// Stripes and checks keep roughly upright, since a quarter turn would change their class.
double random_angle(Shape shape, Random& random) {
  const double most = shape >= Shape::kHorizontalStripes ? 0.3 : M_PI;
  return random.uniform(-most, most);
}

Scene random_scene(int size, Random& random) {
  Scene scene;
  scene.shape = static_cast<Shape>(random.below(static_cast<int64_t>(kClasses.size())));
  scene.radius = random.uniform(0.25, 0.42) * size;
  const double margin = 0.9 * scene.radius;
  scene.centre.x = random.uniform(margin, size - margin);
  scene.centre.y = random.uniform(margin, size - margin);
  const double angle = random_angle(scene.shape, random);
  scene.turn = {std::cos(angle), std::sin(angle)};
  scene.ground_from = random_colour(random);
  scene.ground_to = random_colour(random);
  const double direction = random.uniform(-M_PI, M_PI);
  scene.slope = {std::cos(direction) / size, std::sin(direction) / size};
  scene.ink = legible_ink(scene, random);
  scene.noise = random.uniform(0, 24);
  return scene;
}

// How much of the pixel about (x, y) the shape covers.
double coverage(const Scene& scene, double x, double y) {
  const double dx = (x - scene.centre.x) / scene.radius;
  const double dy = (y - scene.centre.y) / scene.radius;
  const Spot local{scene.turn.x * dx + scene.turn.y * dy, scene.turn.x * dy - scene.turn.y * dx};
  return covered(distance(scene.shape, local) * scene.radius);
}

Image draw(const Scene& scene, int size, Random& random) {
  const double middle = 0.5 * size;
  Image image(size, size);
  uint8_t* out = image.rgb.data();
  for (int row = 0; row < size; ++row) {
    for (int column = 0; column < size; ++column) {
      const double x = column + 0.5;
      const double y = row + 0.5;
      const double blend =
          std::clamp(0.5 + scene.slope.x * (x - middle) + scene.slope.y * (y - middle), 0.0, 1.0);
      const double ink = coverage(scene, x, y);
      for (int channel = 0; channel < 3; ++channel) {
        const double from = scene.ground_from[channel];
        const double ground = from + (scene.ground_to[channel] - from) * blend;
        const double value = ground + (scene.ink[channel] - ground) * ink +
                             random.uniform(-scene.noise, scene.noise);
        *out++ = static_cast<uint8_t>(std::lround(std::clamp(value, 0.0, 255.0)));
      }
    }
  }
  return image;
}

Random random_of(uint64_t seed, Split split, int64_t index) {
  return Random(seed, {static_cast<uint64_t>(split), static_cast<uint64_t>(index)});
}

}  // namespace

Dataset draw_shapes(const ShapesOptions& options, Split split) {
  Dataset dataset;
  dataset.classes = kClasses;
  dataset.native_size = options.size;
  const int64_t count = split == Split::kTrain ? kTrainCount : kValidationCount;
  for (int64_t index = 0; index < count; ++index) {
    Random random = random_of(options.seed, split, index);
    dataset.labels.push_back(static_cast<int>(random_scene(options.size, random).shape));
  }
  dataset.load = [options, split](int64_t index) {
    Random random = random_of(options.seed, split, index);
    const Scene scene = random_scene(options.size, random);
    return draw(scene, options.size, random);
  };
  return dataset;
}

}  // namespace soft
