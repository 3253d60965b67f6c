#include "image/operation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "image/affine.h"

namespace soft {
namespace {

constexpr std::array<uint8_t, 3> kFill{124, 116, 104};  // the ImageNet mean

using Curve = std::array<uint8_t, 256>;  // what each of the 256 values becomes
using Histogram = std::array<int64_t, 256>;

template <class Function>
Curve curve_of(const Function& value_of) {
  Curve curve;
  for (int i = 0; i < 256; ++i) curve[i] = static_cast<uint8_t>(std::clamp(value_of(i), 0, 255));
  return curve;
}

Image map_values(const Image& image, const Curve& curve) {
  Image out(image.width, image.height);
  std::transform(image.rgb.begin(), image.rgb.end(), out.rgb.begin(),
                 [&](uint8_t value) { return curve[value]; });
  return out;
}

std::array<Histogram, 3> histograms(const Image& image) {
  std::array<Histogram, 3> counts{};
  for (size_t i = 0; i < image.rgb.size(); i += 3) {
    for (int channel = 0; channel < 3; ++channel) ++counts[channel][image.rgb[i + channel]];
  }
  return counts;
}

// Each channel through a curve drawn from its own histogram.
template <class Function>
Image map_channels(const Image& image, const Function& curve_from) {
  const auto counts = histograms(image);
  Image out(image.width, image.height);
  for (int channel = 0; channel < 3; ++channel) {
    const Curve curve = curve_from(counts[channel]);
    for (size_t i = channel; i < image.rgb.size(); i += 3) out.rgb[i] = curve[image.rgb[i]];
  }
  return out;
}

// Stretches the values in use over 0 to 255.
Curve autocontrast_curve(const Histogram& counts) {
  const auto used = [](int64_t count) { return count > 0; };
  const auto low = std::find_if(counts.begin(), counts.end(), used) - counts.begin();
  const auto high = counts.rend() - std::find_if(counts.rbegin(), counts.rend(), used) - 1;
  if (high <= low) return curve_of([](int i) { return i; });
  const double scale = 255.0 / static_cast<double>(high - low);
  const double offset = static_cast<double>(-low) * scale;
  return curve_of([=](int i) { return static_cast<int>(i * scale + offset); });
}

// Gives every value its share of the cumulated histogram.
Curve equalize_curve(const Histogram& counts) {
  int64_t total = 0, last = 0;
  for (const int64_t count : counts) {
    total += count;
    if (count > 0) last = count;
  }
  const int64_t step = (total - last) / 255;
  if (step == 0) return curve_of([](int i) { return i; });
  int64_t cumulated = step / 2;
  return curve_of([&](int i) {
    const int64_t value = std::min<int64_t>(cumulated / step, 255);
    cumulated += counts[i];
    return static_cast<int>(value);
  });
}

uint8_t luma(const uint8_t* rgb) {
  return static_cast<uint8_t>((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16);
}

// From `from` towards `to`, and beyond it for factors above one. Single precision and truncation
// are Pillow's.
int blend(int from, int to, float factor) {
  const float value = static_cast<float>(from) + factor * static_cast<float>(to - from);
  return static_cast<int>(std::clamp(value, 0.0f, 255.0f));
}

Image blend(const Image& from, const Image& to, float factor) {
  Image out(to.width, to.height);
  std::transform(from.rgb.begin(), from.rgb.end(), to.rgb.begin(), out.rgb.begin(),
                 [factor](int a, int b) { return static_cast<uint8_t>(blend(a, b, factor)); });
  return out;
}

Image grey(const Image& image) {
  Image out(image.width, image.height);
  for (size_t i = 0; i < image.rgb.size(); i += 3) {
    std::fill_n(&out.rgb[i], 3, luma(&image.rgb[i]));
  }
  return out;
}

int mean_luma(const Image& image) {
  int64_t sum = 0;
  for (size_t i = 0; i < image.rgb.size(); i += 3) sum += luma(&image.rgb[i]);
  const double mean = static_cast<double>(sum) / static_cast<double>(image.grid().size());
  return static_cast<int>(std::floor(mean + 0.5));
}

// 3x3 average with weight 5 in the middle; the border stays.
Image smooth(const Image& image) {
  Image out = image;
  const auto stride = 3 * static_cast<ptrdiff_t>(image.width);
  for (int y = 1; y < image.height - 1; ++y) {
    const uint8_t* in = image.pixel(0, y);
    uint8_t* row = out.pixel(0, y);
    for (ptrdiff_t x = 3; x < stride - 3; ++x) {
      const auto triple = [in](ptrdiff_t at) { return in[at - 3] + in[at] + in[at + 3]; };
      const int sum = triple(x - stride) + triple(x) + triple(x + stride) + 4 * in[x];
      row[x] = static_cast<uint8_t>((2 * sum + 13) / 26);
    }
  }
  return out;
}

// Where each output pixel comes from, for the operations that move pixels.
std::optional<AffineMap> motion_of(Operation operation, double argument, const Image& image) {
  switch (operation) {
    case Operation::kRotate:
      return rotation(argument, image.width, image.height);
    case Operation::kShearX:
      return AffineMap{1, argument, 0, 0, 1, 0};
    case Operation::kShearY:
      return AffineMap{1, 0, 0, argument, 1, 0};
    case Operation::kTranslateX:
      return AffineMap{1, 0, argument, 0, 1, 0};
    case Operation::kTranslateY:
      return AffineMap{1, 0, 0, 0, 1, argument};
    default:
      return std::nullopt;
  }
}

}  // namespace

Image apply(const Image& image, Operation operation, double argument, Filter filter) {
  if (const auto motion = motion_of(operation, argument, image)) {
    return affine(image, *motion, filter, kFill);
  }
  const int level = static_cast<int>(argument);
  const auto factor = static_cast<float>(argument);
  const auto values = [&](auto value_of) { return map_values(image, curve_of(value_of)); };
  switch (operation) {
    case Operation::kAutoContrast:
      return map_channels(image, autocontrast_curve);
    case Operation::kEqualize:
      return map_channels(image, equalize_curve);
    case Operation::kInvert:
      return values([](int i) { return 255 - i; });
    case Operation::kPosterize:
      return values([=](int i) { return i & (0xff00 >> std::clamp(level, 0, 8)); });
    case Operation::kSolarize:
      return values([=](int i) { return i < argument ? i : 255 - i; });
    case Operation::kSolarizeAdd:
      return values([=](int i) { return i < 128 ? i + level : i; });
    case Operation::kColor:
      return blend(grey(image), image, factor);
    case Operation::kContrast:
      return values([=, mean = mean_luma(image)](int i) { return blend(mean, i, factor); });
    case Operation::kBrightness:
      return values([=](int i) { return blend(0, i, factor); });
    case Operation::kSharpness:
      return blend(smooth(image), image, factor);
    case Operation::kRotate:
    case Operation::kShearX:
    case Operation::kShearY:
    case Operation::kTranslateX:
    case Operation::kTranslateY:
      break;  // done above
  }
  fail("unknown operation {}", static_cast<int>(operation));
}

}  // namespace soft
