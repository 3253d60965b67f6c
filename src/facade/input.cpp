#include "facade/input.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/error.h"
#include "base/finite.h"
#include "image/codec.h"

namespace soft {
namespace {

bool is_npy(const std::string& path) {
  char start[6] = {};
  std::ifstream(path, std::ios::binary).read(start, sizeof(start));
  return std::string(start, sizeof(start)) == "\x93NUMPY";
}

// Beyond this float32 overflows somewhere inside a model, in one engine sooner than in the other.
constexpr float kLargestInput = 1e6f;  // a normalised picture stays below 10

Array read_tensor(const std::string& path) {
  Array array = read_npy(path);
  const std::string name = "'" + path + "'";
  check_shape(array.shape, name);
  check_values(array.data.data(), static_cast<int64_t>(array.data.size()), name);
  return array;
}

Array read_picture(const std::string& path, const Card& card) {
  const Preprocessing preprocessing = preprocessing_of(card);
  return {{1, 3, preprocessing.size, preprocessing.size},
          prepared(read_image(path, {true}), preprocessing)};
}

}  // namespace

Preprocessing preprocessing_of(const Card& card, int size) {
  Preprocessing preprocessing;
  preprocessing.size = size > 0 ? size : card.spec.image_size;
  preprocessing.short_side = static_cast<int>(preprocessing.size / card.crop_fraction);
  std::copy(card.mean.begin(), card.mean.end(), preprocessing.mean.begin());
  std::copy(card.std.begin(), card.std.end(), preprocessing.std.begin());
  return preprocessing;
}

std::vector<float> prepared(const Image& upright, const Preprocessing& preprocessing) {
  const Image image = evaluation_crop(upright, preprocessing);
  std::vector<float> pixels(image.rgb.size());
  normalise(image, preprocessing, pixels.data());
  return pixels;
}

void check_shape(const std::vector<int64_t>& shape, const std::string& name) {
  if (shape.size() == 4 && shape[0] >= 1 && shape[1] == 3) return;
  fail("{} is {}; a model reads N x 3 x H x W with at least one picture", name, shape_text(shape));
}

void check_values(const float* values, int64_t count, const std::string& name) {
  if (!all_finite(values, count)) fail("{} holds values that are not finite", name);
  const float* far =
      std::find_if(values, values + count, [](float x) { return std::abs(x) > kLargestInput; });
  if (far == values + count) return;
  fail("{} holds {:.3g}, far from a normalised picture; at most {:.0g} is taken", name, *far,
       kLargestInput);
}

Array read_input(const std::string& path, const Card& card) {
  return is_npy(path) ? read_tensor(path) : read_picture(path, card);
}

}  // namespace soft
