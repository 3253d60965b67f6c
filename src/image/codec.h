// JPEG, PNG and WebP, told apart by content. Pixels are those of Pillow's convert("RGB")
// (9.4 tried): alpha dropped, CMYK, grey, palette and 16 bit
// converted, 16-bit grey cut off at 255. Limits are checked before memory is taken.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "image/image.h"

namespace soft {

constexpr size_t kMaxImageBytes = size_t{20} << 20;
constexpr int64_t kMaxImagePixels = 89'478'485;

// What a picture may cost. Work counts pixels as often as they are gone over: every pass of an
// interlaced PNG and every scan of a JPEG goes over all of them.
struct DecodeLimits {
  int64_t pixels = kMaxImagePixels;
  int64_t side = 1'000'000;
  int scans = 100;  // of a JPEG; real progressive ones have about ten
  int64_t work = 4'000'000'000;
  bool flags = false;                // errors name the flags of `soft serve` that raise the limits
  std::function<bool()> given_up{};  // asked now and then; true ends the work with an error
};

struct DecodeOptions {
  bool upright = false;  // turn as EXIF or XMP say (classify, attend, serve; not in training)
  DecodeLimits limits{};
};

// `name` stands in errors, which are one line each: "'x.jpg': truncated JPEG", "'x.gif':
// unsupported format GIF".
Image decode_image(const uint8_t* bytes, size_t size, const std::string& name,
                   const DecodeOptions& options = {});
Image read_image(const std::string& path, const DecodeOptions& options = {});

// How much work a picture announces, from its headers alone; 0 when they say nothing.
int64_t announced_work(const uint8_t* bytes, size_t size);

std::vector<uint8_t> encode_png(const Image& image);
std::vector<uint8_t> encode_jpeg(const Image& image, int quality = 92);

}  // namespace soft
