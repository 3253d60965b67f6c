#include "image/heat_map.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/parallel.h"
#include "image/colour_map.h"

namespace soft {
namespace {

// The heat's share of a pixel's colour, at zero and at the end of the scale; the rest is the
// picture.
constexpr float kLeastShare = 0.55f, kMostShare = 0.85f;

// Four patches in a row around a pixel's centre, and their weights (Catmull-Rom).
struct Reach {
  std::array<int64_t, 4> patch;  // at the edge the last one repeats
  std::array<float, 4> weight;
};

std::vector<Reach> reaches(int64_t patches, int pixels) {
  std::vector<Reach> all(pixels);
  for (int pixel = 0; pixel < pixels; ++pixel) {
    const double centre = (pixel + 0.5) * static_cast<double>(patches) / pixels - 0.5;
    const auto left = static_cast<int64_t>(std::floor(centre));
    const auto t = static_cast<float>(centre - static_cast<double>(left));
    Reach& reach = all[pixel];
    for (int64_t i = 0; i < 4; ++i) {
      reach.patch[i] = std::clamp<int64_t>(left - 1 + i, 0, patches - 1);
    }
    const float t2 = t * t, t3 = t2 * t;
    reach.weight = {0.5f * (-t + 2 * t2 - t3), 0.5f * (2 - 5 * t2 + 3 * t3),
                    0.5f * (t + 4 * t2 - 3 * t3), 0.5f * (t3 - t2)};
  }
  return all;
}

float value_at(const Heat& heat, const Reach& row, const Reach& column) {
  const auto at = [&](int64_t y, int64_t x) { return heat.values[y * heat.grid.w + x]; };
  float sum = 0;
  for (size_t i = 0; i < 4; ++i) {
    for (size_t j = 0; j < 4; ++j) {
      sum += row.weight[i] * column.weight[j] * at(row.patch[i], column.patch[j]);
    }
  }
  const auto around =
      std::minmax({at(row.patch[1], column.patch[1]), at(row.patch[1], column.patch[2]),
                   at(row.patch[2], column.patch[1]), at(row.patch[2], column.patch[2])});
  return std::clamp(sum, around.first, around.second);
}

// Brightness as television weighs it; a coloured ground would be taken for heat.
float grey_of(const uint8_t* rgb) { return 0.299f * rgb[0] + 0.587f * rgb[1] + 0.114f * rgb[2]; }

void paint(const uint8_t* picture, float value, uint8_t* out) {
  const Colour colour = heat_colour(value);
  const float share = kLeastShare + (kMostShare - kLeastShare) * std::abs(value);
  const float ground = (1 - share) * grey_of(picture);
  for (size_t c = 0; c < 3; ++c) {
    out[c] = static_cast<uint8_t>(std::lround(ground + share * colour[c]));
  }
}

float largest_size(const std::vector<float>& values) {
  float largest = 0;
  for (float value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

}  // namespace

std::vector<float> upsampled(const Heat& heat, int width, int height) {
  if (heat.grid.h < 1 || heat.grid.w < 1 ||
      static_cast<int64_t>(heat.values.size()) != heat.grid.size()) {
    fail("{} values are not a grid of {}x{}", heat.values.size(), heat.grid.h, heat.grid.w);
  }
  const auto rows = reaches(heat.grid.h, height), columns = reaches(heat.grid.w, width);
  std::vector<float> values(static_cast<size_t>(width) * height);
  parallel_for(height, [&](int64_t begin, int64_t end) {
    for (int64_t y = begin; y < end; ++y) {
      float* out = values.data() + y * width;
      for (const Reach& column : columns) *out++ = value_at(heat, rows[y], column);
    }
  });
  return values;
}

Image heat_map(const Image& picture, const Heat& heat) {
  const std::vector<float> values = upsampled(heat, picture.width, picture.height);
  const float largest = largest_size(heat.values);
  const float scale = largest > 0 ? 1 / largest : 0;
  Image image(picture.width, picture.height);
  parallel_for(static_cast<int64_t>(values.size()), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      paint(picture.rgb.data() + 3 * i, scale * values[i], image.rgb.data() + 3 * i);
    }
  });
  return image;
}

void draw_cross(Image& image, Pixel at) {
  const int shorter = std::min(image.width, image.height);
  const int half = shorter / 400;                      // of the light stroke's width
  const int edge = half + std::max(shorter / 300, 1);  // of the dark one's
  const int arm = std::max(shorter / 28, 4);
  const auto bar = [&](int dx, int dy, uint8_t shade) {
    for (int y = std::max(at.y - dy, 0); y <= std::min(at.y + dy, image.height - 1); ++y) {
      for (int x = std::max(at.x - dx, 0); x <= std::min(at.x + dx, image.width - 1); ++x) {
        std::fill_n(image.pixel(x, y), 3, shade);
      }
    }
  };
  bar(arm + edge - half, edge, 0);
  bar(edge, arm + edge - half, 0);
  bar(arm, half, 255);
  bar(half, arm, 255);
}

}  // namespace soft
