// From a picture to what a model reads: the only preprocessing there is, shared by training,
// evaluation, the command line and the server.
#pragma once

#include <array>

#include "image/image.h"

namespace soft {

enum class Filter { kBilinear, kBicubic };  // Pillow's, with antialias; bicubic a = -0.5

// A rectangle of the source, in pixels; may have fractional edges.
struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;
};

// Equal to Pillow's Image.resize bit for bit. Only the rows and columns asked for are computed.
Image resize(const Image& image, int width, int height, Filter filter);
Image resize(const Image& image, int width, int height, Filter filter, const Box& box);

Image crop(const Image& image, int left, int top, int width, int height);
Image flip_horizontal(const Image& image);

struct Preprocessing {
  int size = 224;
  int short_side =
      248;  // the short side is resized to this, then the centre size x size is cut out
  std::array<float, 3> mean{0.485f, 0.456f, 0.406f};
  std::array<float, 3> std{0.229f, 0.224f, 0.225f};
};

// Short side to `short_side` (long side truncated), bicubic, centre crop; never builds the part of
// the resized picture that is cropped away.
Image evaluation_crop(const Image& image, const Preprocessing& preprocessing);

// (pixel/255 - mean) / std into out [3, H, W].
void normalise(const Image& image, const Preprocessing& preprocessing, float* out);

}  // namespace soft
