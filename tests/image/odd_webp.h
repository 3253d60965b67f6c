// WebP files made with libwebp itself; its container is put together by hand.
#pragma once

#include <webp/encode.h>

#include <string>

#include "image/image.h"

namespace soft::test {

inline std::string lossless_webp(const Image& image) {
  uint8_t* bytes = nullptr;
  const size_t size =
      WebPEncodeLosslessRGB(image.rgb.data(), image.width, image.height, 3 * image.width, &bytes);
  std::string file(bytes, bytes + size);
  WebPFree(bytes);
  return file;
}

inline std::string little_endian(size_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>(value >> (8 * i) & 255));
  return text;
}

inline std::string riff_chunk(const std::string& name, const std::string& content) {
  return name + little_endian(content.size(), 4) + content + std::string(content.size() % 2, '\0');
}

// The extended form around a simple file's own chunk, followed by an EXIF chunk.
inline std::string webp_with_exif(const std::string& simple, int width, int height,
                                  const std::string& exif) {
  constexpr int kHasExif = 8;
  const std::string header =
      little_endian(kHasExif, 4) + little_endian(width - 1, 3) + little_endian(height - 1, 3);
  return riff_chunk(
      "RIFF", "WEBP" + riff_chunk("VP8X", header) + simple.substr(12) + riff_chunk("EXIF", exif));
}

}  // namespace soft::test
