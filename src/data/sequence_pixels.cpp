// Pictures as rows of grey pixels.
#include <cmath>
#include <numeric>
#include <utility>

#include "data/sequence_source.h"
#include "data/source.h"

namespace soft {
namespace {

constexpr int64_t kDevelopmentShare = 10;  // of the training pictures, one in so many

int grey_of(const uint8_t* rgb) {
  return static_cast<int>(std::lround(0.2989 * rgb[0] + 0.5870 * rgb[1] + 0.1140 * rgb[2]));
}

std::vector<int32_t> grey_pixels(const Image& image, int shift) {
  std::vector<int32_t> tokens;
  tokens.reserve(image.rgb.size() / 3);
  for (size_t i = 0; i < image.rgb.size(); i += 3) tokens.push_back(grey_of(&image.rgb[i]) + shift);
  return tokens;
}

// Test pictures are the set's own; the others are in the training batches.
SequenceSet part_of(SequenceSet set, SequencePart part) {
  if (part == SequencePart::kTest) return set;
  const int64_t development = set.size() / kDevelopmentShare;
  const int64_t first = part == SequencePart::kTrain ? 0 : set.size() - development;
  const int64_t count = part == SequencePart::kTrain ? set.size() - development : development;
  std::vector<int64_t> chosen(count);
  std::iota(chosen.begin(), chosen.end(), first);
  return subset(std::move(set), std::move(chosen));
}

}  // namespace

SequenceSet open_grey_pixels(const std::string& folder, SequencePart part, bool black_is_padding) {
  Dataset pictures =
      open_cifar10(folder, part == SequencePart::kTest ? Split::kValidation : Split::kTrain);
  SequenceSet set;
  set.classes = pictures.classes;
  set.labels = pictures.labels;
  set.vocabulary = 512;
  set.divided = true;
  const int shift = black_is_padding ? 0 : 1;
  set.load = [load = std::move(pictures.load), shift](int64_t index, int) {
    return grey_pixels(load(index), shift);  // [1024]
  };
  const std::string prefix = folder + (part == SequencePart::kTest ? "/test/" : "/train/");
  set.describe = [prefix](int64_t index) { return prefix + std::to_string(index); };
  return part_of(std::move(set), part);
}

}  // namespace soft
