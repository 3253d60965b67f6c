#include "image/transform.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "image/window.h"

namespace soft {
namespace {

// Columns first, then rows, with bytes in between. Only rows that some output needs are touched.
Image resample(const Image& image, const ResizeWindows& columns, const ResizeWindows& rows) {
  const int width = static_cast<int>(columns.first.size());
  const int height = static_cast<int>(rows.first.size());
  const int needed = rows.end() - rows.begin();
  Image narrow(width, needed);
  resample_rows(image.pixel(0, rows.begin()), needed, image.width, columns.view(),
                narrow.rgb.data());  // [needed, width, 3]
  std::vector<int32_t> first = rows.first;
  for (int32_t& row : first) row -= rows.begin();
  Image out(width, height);
  resample_columns(narrow.rgb.data(), size_t{3} * width,
                   {height, rows.taps, first.data(), rows.weights.data()}, out.rgb.data());
  return out;
}

}  // namespace

Image resize(const Image& image, int width, int height, Filter filter) {
  return resize(image, width, height, filter,
                {0, 0, static_cast<double>(image.width), static_cast<double>(image.height)});
}

Image resize(const Image& image, int width, int height, Filter filter, const Box& box) {
  if (width <= 0 || height <= 0) fail("cannot resize a picture to {}x{} pixels", width, height);
  if (!(box.left >= 0 && box.left < box.right && box.right <= image.width && box.top >= 0 &&
        box.top < box.bottom && box.bottom <= image.height)) {
    fail("the box ({}, {}, {}, {}) is empty or leaves the picture of {}x{} pixels", box.left,
         box.top, box.right, box.bottom, image.width, image.height);
  }
  const ResizeAxis x{image.width, box.left, box.right, width};
  const ResizeAxis y{image.height, box.top, box.bottom, height};
  return resample(image, windows_of(x, filter, 0, width), windows_of(y, filter, 0, height));
}

Image crop(const Image& image, int left, int top, int width, int height) {
  if (left < 0 || top < 0 || width <= 0 || height <= 0 || width > image.width - left ||
      height > image.height - top) {
    fail("cannot cut {}x{} pixels at ({}, {}) out of {}x{}", width, height, left, top, image.width,
         image.height);
  }
  Image out(width, height);
  for (int y = 0; y < height; ++y) {
    std::copy_n(image.pixel(left, top + y), size_t{3} * width, out.pixel(0, y));
  }
  return out;
}

Image flip_horizontal(const Image& image) {
  Image out(image.width, image.height);
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      std::copy_n(image.pixel(x, y), 3, out.pixel(image.width - 1 - x, y));
    }
  }
  return out;
}

Image evaluation_crop(const Image& image, const Preprocessing& preprocessing) {
  const int size = preprocessing.size, short_side = preprocessing.short_side;
  if (size <= 0 || short_side < size) {
    fail("cannot cut {0}x{0} pixels out of a short side of {1}", size, short_side);
  }
  const int64_t shorter = std::min(image.width, image.height);
  if (shorter <= 0) fail("cannot resize a picture without pixels");
  const auto centred = [&](int inputs) {
    const ResizeAxis axis{inputs, 0, static_cast<double>(inputs),
                          int64_t{inputs} * short_side / shorter};
    // Half a pixel goes to the even side, as in Python's round.
    const double margin = static_cast<double>(axis.outputs - size) / 2;
    return windows_of(axis, Filter::kBicubic, std::llrint(margin), size);
  };
  return resample(image, centred(image.width), centred(image.height));
}

void normalise(const Image& image, const Preprocessing& preprocessing, float* out) {
  const size_t pixels = image.rgb.size() / 3;
  for (int channel = 0; channel < 3; ++channel) {
    std::array<float, 256> value_of;
    for (int i = 0; i < 256; ++i) {
      value_of[i] = (static_cast<float>(i) / 255.0f - preprocessing.mean[channel]) /
                    preprocessing.std[channel];
    }
    const uint8_t* in = image.rgb.data() + channel;
    for (size_t i = 0; i < pixels; ++i) *out++ = value_of[in[3 * i]];  // [3, H, W]
  }
}

}  // namespace soft
