// JPEG, PNG and WebP, told apart by content. Pixels are those of Pillow's convert("RGB") (9.4
// tried; nothing of this changed up to 11): alpha dropped, CMYK, grey, palette and 16 bit
// converted, 16-bit grey cut off at 255. Limits are checked before memory is taken.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "image/image.h"

namespace soft {

constexpr size_t kMaxImageBytes = size_t{20} << 20;
constexpr int64_t kMaxImagePixels = 89'478'485;

struct DecodeOptions {
  bool upright = false;  // turn as EXIF or XMP say (classify, attend, serve; not in training)
};

// `name` stands in errors, which are one line each: "'x.jpg': truncated JPEG", "'x.gif':
// unsupported format GIF".
Image decode_image(const uint8_t* bytes, size_t size, const std::string& name,
                   const DecodeOptions& options = {});
Image read_image(const std::string& path, const DecodeOptions& options = {});

std::vector<uint8_t> encode_png(const Image& image);
std::vector<uint8_t> encode_jpeg(const Image& image, int quality = 92);

}  // namespace soft
