// Objects are drawn anti-aliased from their signed distance, upright: a square turned by 45 degrees
// is a diamond. Nothing but the cue says which of them is asked for.
#include "data/cue.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/random.h"
#include "data/outline.h"

namespace soft {
namespace {

using namespace outline;  // NOLINT: a room of its own

constexpr int64_t kTrainCount = 30'000;
constexpr int64_t kValidationCount = 2'000;

// As parts of the picture's side.
constexpr double kCueHalf = 0.09;
constexpr double kSmallest = 0.12, kLargest = 0.17;  // radius of an object
constexpr double kGap = 0.02;                        // around objects and cue

constexpr double kJitter = 25;  // of a colour's channels, 0 to 255
constexpr double kNoise = 5;    // of a pixel's

using Colour = std::array<double, 3>;

enum Shape { kDisc, kSquare, kTriangle, kCross, kDiamond };

constexpr std::array<Colour, 5> kColours{
    {{215, 50, 45}, {55, 185, 75}, {60, 100, 225}, {225, 205, 55}, {170, 75, 205}}};

double distance(int shape, Spot p) {
  switch (shape) {
    case kDisc:
      return disc(p) + 0.1;
    case kSquare:
      return box(p, 0.78, 0.78);
    case kTriangle:
      return triangle({p.x, p.y - 0.15});
    case kCross:
      return std::min(box(p, 0.95, 0.3), box(p, 0.3, 0.95));
    default:
      return diamond(p);
  }
}

struct Object {
  int shape = kDisc;
  int colour = 0;
  Spot centre;  // parts of the side, as is the radius
  double radius = 0;
};

struct Scene {
  std::array<Object, kCueObjects> objects;
  std::array<Colour, 5> inks{};  // every colour as it is in this picture
  Colour ground{};
  int right = 0;
};

// What an object and the gap around it would take of the cue's place.
bool touches_cue(const Object& object) {
  const double dx = std::max(0.0, std::abs(object.centre.x - 0.5) - kCueHalf);
  const double dy = std::max(0.0, std::abs(object.centre.y - 0.5) - kCueHalf);
  return std::hypot(dx, dy) < 1.1 * object.radius + kGap;  // a square's corner is at 1.1 radii
}

void place(Object& object, int quadrant, Random& random) {
  const double left = quadrant % 2 * 0.5;
  const double top = quadrant / 2 * 0.5;
  do {
    object.radius = random.uniform(kSmallest, kLargest);
    const double margin = object.radius + kGap;
    object.centre.x = left + random.uniform(margin, 0.5 - margin);
    object.centre.y = top + random.uniform(margin, 0.5 - margin);
  } while (touches_cue(object));
}

int random_label(const CueOptions& options, Split split, int64_t index) {
  Random random(options.seed, {static_cast<uint64_t>(split), static_cast<uint64_t>(index)});
  return static_cast<int>(random.below(static_cast<int64_t>(cue_shapes().size())));
}

// Four of five shapes, in any order, the label among them.
void choose_shapes(Scene& scene, int label, Random& random) {
  scene.right = static_cast<int>(random.below(kCueObjects));
  std::vector<int> others;
  for (int64_t shape : random.permutation(5)) {
    if (shape != label) others.push_back(static_cast<int>(shape));
  }
  for (int i = 0; i < kCueObjects; ++i) scene.objects[i].shape = others[i];
  scene.objects[scene.right].shape = label;
}

Scene random_scene(int label, Random& random) {
  Scene scene;
  choose_shapes(scene, label, random);
  const std::vector<int64_t> colours = random.permutation(5);
  for (int i = 0; i < kCueObjects; ++i) {
    scene.objects[i].colour = static_cast<int>(colours[i]);
    place(scene.objects[i], i, random);
  }
  for (size_t colour = 0; colour < scene.inks.size(); ++colour) {
    for (int channel = 0; channel < 3; ++channel) {
      scene.inks[colour][channel] = kColours[colour][channel] + random.uniform(-kJitter, kJitter);
    }
  }
  const double grey = random.uniform(8, 36);
  for (double& channel : scene.ground) channel = grey + random.uniform(-6, 6);
  return scene;
}

// [size, size]
template <class Distance>
std::vector<float> coverage(int size, const Distance& pixels_away) {
  std::vector<float> mask(static_cast<size_t>(size) * size);
  float* out = mask.data();
  for (int row = 0; row < size; ++row) {
    for (int column = 0; column < size; ++column) {
      *out++ = static_cast<float>(covered(pixels_away(column + 0.5, row + 0.5)));
    }
  }
  return mask;
}

std::vector<float> object_mask(const Object& object, int size) {
  const double radius = object.radius * size;  // pixels
  const Spot centre{object.centre.x * size, object.centre.y * size};
  return coverage(size, [&](double x, double y) {
    return radius * distance(object.shape, {(x - centre.x) / radius, (y - centre.y) / radius});
  });
}

std::vector<float> cue_mask(int size) {
  const double half = kCueHalf * size;
  const double middle = 0.5 * size;
  return coverage(size, [&](double x, double y) {
    return box({x - middle, y - middle}, half, half);
  });
}

using Canvas = std::vector<Colour>;

void paint(Canvas& canvas, const std::vector<float>& mask, const Colour& ink) {
  for (size_t pixel = 0; pixel < canvas.size(); ++pixel) {
    for (int channel = 0; channel < 3; ++channel) {
      canvas[pixel][channel] += (ink[channel] - canvas[pixel][channel]) * mask[pixel];
    }
  }
}

Image develop(const Canvas& canvas, int size, Random& random) {
  Image image(size, size);
  uint8_t* out = image.rgb.data();
  for (const Colour& pixel : canvas) {
    for (double value : pixel) {
      const double noisy = std::clamp(value + random.uniform(-kNoise, kNoise), 0.0, 255.0);
      *out++ = static_cast<uint8_t>(std::lround(noisy));
    }
  }
  return image;
}

}  // namespace

const std::vector<std::string>& cue_shapes() {
  static const std::vector<std::string> names{"disc", "square", "triangle", "cross", "diamond"};
  return names;
}

const std::vector<std::string>& cue_colours() {
  static const std::vector<std::string> names{"red", "green", "blue", "yellow", "violet"};
  return names;
}

CuePicture draw_cue(const CueOptions& options, Split split, int64_t index, int64_t epoch) {
  Random random(options.seed, {static_cast<uint64_t>(split), static_cast<uint64_t>(index),
                               static_cast<uint64_t>(epoch)});
  const Scene scene = random_scene(random_label(options, split, index), random);
  CuePicture picture;
  picture.right = scene.right;
  picture.cue = cue_mask(options.size);
  Canvas canvas(picture.cue.size(), scene.ground);
  for (int i = 0; i < kCueObjects; ++i) {
    const Object& object = scene.objects[i];
    picture.shapes[i] = object.shape;
    picture.colours[i] = object.colour;
    picture.masks[i] = object_mask(object, options.size);
    paint(canvas, picture.masks[i], scene.inks[object.colour]);
  }
  paint(canvas, picture.cue, scene.inks[picture.colours[picture.right]]);
  picture.image = develop(canvas, options.size, random);
  return picture;
}

Dataset open_cue(const CueOptions& options, Split split) {
  Dataset dataset;
  dataset.classes = cue_shapes();
  dataset.native_size = options.size;
  const int64_t count = split == Split::kTrain ? kTrainCount : kValidationCount;
  for (int64_t i = 0; i < count; ++i) dataset.labels.push_back(random_label(options, split, i));
  dataset.load = [options, split](int64_t index) { return draw_cue(options, split, index).image; };
  if (split != Split::kTrain) return dataset;
  dataset.draw = [options, split](int64_t index, int64_t epoch) {
    return draw_cue(options, split, index, epoch).image;
  };
  return dataset;
}

}  // namespace soft
