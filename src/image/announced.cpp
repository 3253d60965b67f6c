// What a picture's headers say about the work of decoding it, without decoding anything: pixels as
// often as they are gone over, where one counts for as long as one of a plain JPEG takes.
#include <webp/decode.h>

#include <algorithm>
#include <cstring>

#include "image/codec.h"
#include "image/format.h"

namespace soft {
namespace {

int64_t big_endian(const uint8_t* bytes, int count) {
  int64_t value = 0;
  for (int i = 0; i < count; ++i) value = value << 8 | bytes[i];
  return value;
}

// Bytes of a pixel by PNG's colour type: grey, -, RGB, palette, grey and alpha, -, RGB and alpha.
int64_t png_pixel_bytes(int depth, int colour) {
  constexpr int kChannels[] = {1, 1, 3, 1, 2, 1, 4};
  return (depth == 16 ? 2 : 1) * (colour <= 6 ? kChannels[colour] : 4);
}

// Signature, length and name of the first chunk, width, height, depth, colours, two bytes,
// interlacing. A pixel of 16-bit RGB and alpha takes three times as long as one of 8-bit RGB.
int64_t png_work(const uint8_t* bytes, size_t size) {
  constexpr size_t kWidth = 16, kHeight = 20, kDepth = 24, kColour = 25, kInterlace = 28;
  if (size <= kInterlace) return 0;
  constexpr int64_t kLargest = int64_t{1} << 28;  // of a side; the product of two still fits
  const int64_t width = std::min(big_endian(bytes + kWidth, 4), kLargest);
  const int64_t height = std::min(big_endian(bytes + kHeight, 4), kLargest);
  const int64_t each = (png_pixel_bytes(bytes[kDepth], bytes[kColour]) + 2) / 3;
  return width * height * each * (bytes[kInterlace] != 0 ? 7 : 1);
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

// Whatever is not simply lossy (of 12 bytes in front of it) may have a Huffman table for every few
// bytes: 65,536 of them in 352 kB take most of a second, however few the pixels.
int64_t webp_work(const uint8_t* bytes, size_t size) {
  constexpr size_t kFirstChunk = 12;
  constexpr int64_t kTables = 100;  // a byte of tables beside a pixel
  int width = 0, height = 0;
  if (WebPGetInfo(bytes, size, &width, &height) == 0) return 0;
  const bool lossy = std::memcmp(bytes + kFirstChunk, "VP8 ", 4) == 0;
  return int64_t{width} * height + (lossy ? 0 : kTables * static_cast<int64_t>(size));
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
