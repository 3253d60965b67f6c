#include "data/augment.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace soft {
namespace {

constexpr int kTries = 10;

void check_range(const char* what, double value, double low, double high) {
  if (!(value >= low && value <= high)) {
    fail_usage("{} is {}; it must lie between {} and {}", what, value, low, high);
  }
}

Window centred(Grid picture, int64_t width, int64_t height) {
  return {static_cast<int>((picture.w - width) / 2), static_cast<int>((picture.h - height) / 2),
          static_cast<int>(width), static_cast<int>(height)};
}

// The largest centred window whose aspect ratio is allowed.
Window fallback_window(Grid picture, const Augmentation& augmentation) {
  const double ratio = static_cast<double>(picture.w) / static_cast<double>(picture.h);
  int64_t width = picture.w;
  int64_t height = picture.h;
  if (ratio < augmentation.min_ratio) {
    height = std::lround(static_cast<double>(width) / augmentation.min_ratio);
  } else if (ratio > augmentation.max_ratio) {
    width = std::lround(static_cast<double>(height) * augmentation.max_ratio);
  }
  return centred(picture, width, height);
}

Image random_resized_crop(const Image& image, int size, const Augmentation& augmentation,
                          Random& random) {
  const Window window = random_resized_window(image.grid(), augmentation, random);
  const Filter filter = random_filter(random);
  return resize(crop(image, window.left, window.top, window.width, window.height), size, size,
                filter);
}

Image random_shift(const Image& image, int pad, Random& random) {
  const auto left = static_cast<int>(random.below(2 * pad + 1)) - pad;
  const auto top = static_cast<int>(random.below(2 * pad + 1)) - pad;
  return cut(image, {left, top, image.width, image.height});
}

Image cropped(Image image, const Dataset& dataset, const Preprocessing& preprocessing,
              const Augmentation& augmentation, Random& random) {
  switch (augmentation.crop) {
    case Crop::kNone:
      return fit(std::move(image), dataset, preprocessing);
    case Crop::kRandomResized:
      return random_resized_crop(image, preprocessing.size, augmentation, random);
    case Crop::kPad:
      return random_shift(fit(std::move(image), dataset, preprocessing), augmentation.pad, random);
  }
  return image;
}

void fill_noise(float* planes, int size, const Window& window, Random& random) {
  for (int channel = 0; channel < 3; ++channel) {
    for (int y = window.top; y < window.top + window.height; ++y) {
      float* row = planes + (int64_t{channel} * size + y) * size + window.left;
      for (int x = 0; x < window.width; ++x) row[x] = static_cast<float>(random.normal());
    }
  }
}

}  // namespace

void validate(const Augmentation& a) {
  check_range("crop scale", a.min_scale, 1e-6, a.max_scale);
  check_range("crop scale", a.max_scale, a.min_scale, 1);
  check_range("crop ratio", a.min_ratio, 1e-3, a.max_ratio);
  check_range("crop ratio", a.max_ratio, a.min_ratio, 1e3);
  check_range("pad", a.pad, 0, 1024);
  check_range("flip", a.flip, 0, 1);
  check_range("the number of RandAugment operations", a.operations, 0, 100);
  check_range("the probability of a RandAugment operation", a.operation_probability, 0, 1);
  check_range("the RandAugment level", a.level, 0, 10);
  check_range("the spread of the RandAugment level", a.level_spread, 0, 10);
  check_range("mixup", a.mixup, 0, 1e3);
  check_range("cutmix", a.cutmix, 0, 1e3);
  check_range("the chance of cutmix", a.cutmix_chance, 0, 1);
  check_range("the probability of mixing", a.mix_probability, 0, 1);
  check_range("erasing", a.erasing, 0, 1);
  check_range("the erased area", a.min_erased, 0, a.max_erased);
  check_range("the erased area", a.max_erased, a.min_erased, 1);
  check_range("the aspect of what is erased", a.erased_aspect, 1e-3, 1);
  check_range("label smoothing", a.smoothing, 0, 1);
}

Filter random_filter(Random& random) {
  return random.chance(0.5) ? Filter::kBilinear : Filter::kBicubic;
}

Window random_resized_window(Grid picture, const Augmentation& augmentation, Random& random) {
  const double low = std::log(augmentation.min_ratio);
  const double high = std::log(augmentation.max_ratio);
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const double scale = random.uniform(augmentation.min_scale, augmentation.max_scale);
    const double area = scale * static_cast<double>(picture.size());
    const double ratio = std::exp(random.uniform(low, high));  // width to height
    const int64_t width = std::lround(std::sqrt(area * ratio));
    const int64_t height = std::lround(std::sqrt(area / ratio));
    if (width < 1 || height < 1 || width > picture.w || height > picture.h) continue;
    const auto top = static_cast<int>(random.below(picture.h - height + 1));
    const auto left = static_cast<int>(random.below(picture.w - width + 1));
    return {left, top, static_cast<int>(width), static_cast<int>(height)};
  }
  return fallback_window(picture, augmentation);
}

Image cut(const Image& image, const Window& window) {
  Image out(window.width, window.height);  // black
  const int left = std::max(0, window.left);
  const int right = std::min(image.width, window.left + window.width);
  const int top = std::max(0, window.top);
  const int bottom = std::min(image.height, window.top + window.height);
  if (left >= right) return out;
  for (int y = top; y < bottom; ++y) {
    std::copy_n(image.pixel(left, y), 3 * (right - left),
                out.pixel(left - window.left, y - window.top));
  }
  return out;
}

Image augment(Image image, const Dataset& dataset, const Preprocessing& preprocessing,
              const Augmentation& augmentation, Random& random) {
  image = cropped(std::move(image), dataset, preprocessing, augmentation, random);
  if (random.chance(augmentation.flip) && dataset.mirrors) image = flip_horizontal(image);
  return rand_augment(std::move(image), augmentation, random);
}

void maybe_erase(float* planes, int size, const Augmentation& augmentation, Random& random) {
  if (!random.chance(augmentation.erasing)) return;
  const double log_aspect = std::log(augmentation.erased_aspect);  // negative
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const double area =
        random.uniform(augmentation.min_erased, augmentation.max_erased) * size * size;
    const double aspect = std::exp(random.uniform(log_aspect, -log_aspect));  // height to width
    const int64_t height = std::lround(std::sqrt(area * aspect));
    const int64_t width = std::lround(std::sqrt(area / aspect));
    if (height >= size || width >= size) continue;
    const int64_t top = random.below(size - height + 1);
    const int64_t left = random.below(size - width + 1);
    fill_noise(planes, size, {int(left), int(top), int(width), int(height)}, random);
    return;
  }
}

}  // namespace soft
