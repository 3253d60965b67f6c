// Numbers on a grid of patches, shown over the picture that the patches cover.
#pragma once

#include <vector>

#include "image/image.h"

namespace soft {

struct Pixel {
  int x = 0, y = 0;
};

struct Heat {
  Grid grid;
  std::vector<float> values;  // [grid.h, grid.w], finite
};

// The values at every pixel's centre, [height, width]: bicubic between the centres of the patches,
// never outside the four around it, so that no extreme and no sign appears that is not in `heat`.
std::vector<float> upsampled(const Heat& heat, int width, int height);

// The picture in dimmed grey under the heat's colours (image/colour_map.h). Zero is dark; the value
// furthest from zero takes the end of its scale, and the other sign is measured by the same scale.
Image heat_map(const Image& picture, const Heat& heat);

// A cross with its centre at a pixel, light with a dark edge: it shows on any ground.
void draw_cross(Image& image, Pixel at);

}  // namespace soft
