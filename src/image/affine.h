// Affine maps of a picture onto itself, equal to Pillow's Image.transform(AFFINE): the value of the
// source at each output pixel's preimage, interpolated without antialias. Unlike the resize filter,
// the cubic here is Keys' with a = -1, and fractions are cut off, not rounded.
#pragma once

#include <array>

#include "image/image.h"
#include "image/transform.h"

namespace soft {

// Output pixel centres to source: x' = xx*x + xy*y + x0, y' = yx*x + yy*y + y0.
struct AffineMap {
  double xx = 1, xy = 0, x0 = 0;
  double yx = 0, yy = 1, y0 = 0;
};

// Counter-clockwise about the centre of a width x height picture.
AffineMap rotation(double degrees, int width, int height);

// Output pixels whose preimage lies outside the picture get the colour `fill`.
Image affine(const Image& image, const AffineMap& map, Filter filter,
             const std::array<uint8_t, 3>& fill);

}  // namespace soft
