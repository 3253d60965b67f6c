// How the camera was held: the EXIF orientation of JPEG, PNG and WebP files, as Pillow's
// ImageOps.exif_transpose finds it; in PNG also from ImageMagick's hexadecimal text and from XMP.
#pragma once

#include <cstddef>

#include "image/format.h"
#include "image/image.h"

namespace soft {

// 1 to 8; 1 (as stored) when there is no EXIF data or it is damaged.
int exif_orientation(Format format, const uint8_t* bytes, size_t size);

// The picture as it should be looked at.
Image upright(const Image& image, int orientation);

}  // namespace soft
