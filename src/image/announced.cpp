// What a picture's headers say about the work of decoding it, without decoding anything.
#include <webp/decode.h>

#include <algorithm>

#include "image/codec.h"
#include "image/format.h"

namespace soft {
namespace {

int64_t big_endian(const uint8_t* bytes, int count) {
  int64_t value = 0;
  for (int i = 0; i < count; ++i) value = value << 8 | bytes[i];
  return value;
}

// Signature, length and name of the first chunk, width, height, three bytes, interlacing.
int64_t png_work(const uint8_t* bytes, size_t size) {
  constexpr size_t kWidth = 16, kHeight = 20, kInterlace = 28;
  if (size <= kInterlace) return 0;
  constexpr int64_t kLargest = int64_t{1} << 28;  // of a side; the product of two still fits
  const int64_t width = std::min(big_endian(bytes + kWidth, 4), kLargest);
  const int64_t height = std::min(big_endian(bytes + kHeight, 4), kLargest);
  return width * height * (bytes[kInterlace] != 0 ? 7 : 1);
}

bool is_frame_header(uint8_t marker) {
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

// Goes from segment to segment; between a scan's header and the next marker lies its data, in which
// 0xFF is followed by 0x00 or by a restart marker.
int64_t jpeg_work(const uint8_t* bytes, size_t size) {
  int64_t pixels = 0, scans = 0;
  for (size_t at = 2; at + 9 < size;) {
    const uint8_t marker = bytes[at + 1];
    const bool stuffing =
        bytes[at] != 0xFF || marker == 0 || marker == 0xFF || (marker >= 0xD0 && marker <= 0xD7);
    if (stuffing) {
      ++at;
      continue;
    }
    if (is_frame_header(marker))
      pixels = big_endian(bytes + at + 5, 2) * big_endian(bytes + at + 7, 2);
    scans += marker == 0xDA ? 1 : 0;
    at += 2 + static_cast<size_t>(big_endian(bytes + at + 2, 2));
  }
  return pixels * std::max<int64_t>(scans, 1);
}

int64_t webp_work(const uint8_t* bytes, size_t size) {
  int width = 0, height = 0;
  return WebPGetInfo(bytes, size, &width, &height) != 0 ? int64_t{width} * height : 0;
}

}  // namespace

int64_t announced_work(const uint8_t* bytes, size_t size) {
  switch (format_of(bytes, size).format) {
    case Format::kPng:
      return png_work(bytes, size);
    case Format::kJpeg:
      return jpeg_work(bytes, size);
    case Format::kWebp:
      return webp_work(bytes, size);
    case Format::kUnsupported:
      break;
  }
  return 0;
}

}  // namespace soft
