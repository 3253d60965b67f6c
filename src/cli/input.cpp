#include "cli/input.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/error.h"
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

void check_range(const Array& array, const std::string& path) {
  const auto far = std::find_if(array.data.begin(), array.data.end(),
                                [](float x) { return std::abs(x) > kLargestInput; });
  if (far == array.data.end()) return;
  fail("'{}' holds {:.3g}, far from a normalised picture; at most {:.0g} is taken", path, *far,
       kLargestInput);
}

Array read_tensor(const std::string& path) {
  Array array = read_npy(path);
  if (array.shape.size() != 4 || array.shape[0] < 1 || array.shape[1] != 3) {
    fail("'{}' is {}; a model reads N x 3 x H x W with at least one picture", path,
         shape_text(array.shape));
  }
  if (!std::all_of(array.data.begin(), array.data.end(),
                   [](float x) { return std::isfinite(x); })) {
    fail("'{}' holds values that are not finite", path);
  }
  check_range(array, path);
  return array;
}

Array read_picture(const std::string& path, const Card& card) {
  const Preprocessing preprocessing = preprocessing_of(card);
  const Image image = evaluation_crop(read_image(path, {true}), preprocessing);
  Array array;
  array.shape = {1, 3, image.height, image.width};
  array.data.resize(image.rgb.size());
  normalise(image, preprocessing, array.data.data());
  return array;
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

Array read_input(const std::string& path, const Card& card) {
  return is_npy(path) ? read_tensor(path) : read_picture(path, card);
}

}  // namespace soft
