#include "image/codec.h"

#include "base/error.h"
#include "base/file.h"
#include "image/decoder.h"
#include "image/exif.h"
#include "image/format.h"

namespace soft {
namespace {

constexpr const char* kReadable = "JPEG, PNG and WebP are read";

Image decode(const FormatName& format, const ImageBytes& file) {
  switch (format.format) {
    case Format::kJpeg:
      return decode_jpeg(file);
    case Format::kPng:
      return decode_png(file);
    case Format::kWebp:
      return decode_webp(file);
    case Format::kUnsupported:
      break;
  }
  if (format.name.empty()) fail("'{}': not a picture ({})", file.name, kReadable);
  fail("'{}': unsupported format {} ({})", file.name, format.name, kReadable);
}

// What to do about a limit.
std::string remedy(const DecodeLimits& limits, const char* flag) {
  return limits.flags ? fmt::format(" ({}); make it smaller", flag) : "; make it smaller";
}

}  // namespace

void check_size(int64_t width, int64_t height, const ImageBytes& file) {
  const DecodeLimits& limits = file.limits;
  if (width <= 0 || height <= 0) fail("'{}': a picture of {}x{} pixels", file.name, width, height);
  if (width > limits.side || height > limits.side) {
    fail("'{}': {}x{} pixels; a side may have {}{}", file.name, width, height, limits.side,
         remedy(limits, "--max-side"));
  }
  if (width > limits.pixels / height) {
    fail("'{}': {}x{} pixels are more than the {} that are read{}", file.name, width, height,
         limits.pixels, remedy(limits, "--max-megapixels"));
  }
}

void check_work(int64_t width, int64_t height, int times, const ImageBytes& file) {
  const DecodeLimits& limits = file.limits;
  if (width * height <= limits.work / times) return;
  fail("'{}': {} passes over {}x{} pixels are more than the {} million that are read{}", file.name,
       times, width, height, limits.work / 1'000'000, remedy(limits, "--max-decode-work"));
}

void fail_given_up(const ImageBytes& file) {
  fail("'{}': not decoded in time{}", file.name, remedy(file.limits, "--answer-seconds"));
}

Image decode_image(const uint8_t* bytes, size_t size, const std::string& name,
                   const DecodeOptions& options) {
  if (size == 0) fail("'{}': empty file", name);
  if (size > kMaxImageBytes) {
    fail("'{}': {} bytes are more than the {} that are read; make it smaller", name, size,
         kMaxImageBytes);
  }
  const FormatName format = format_of(bytes, size);
  Image image = decode(format, {bytes, size, name, options.limits});
  if (!options.upright) return image;
  const int orientation = exif_orientation(format.format, bytes, size);
  return orientation == 1 ? image : upright(image, orientation);
}

Image read_image(const std::string& path, const DecodeOptions& options) {
  const std::vector<uint8_t> bytes = read_bytes(path, kMaxImageBytes);
  return decode_image(bytes.data(), bytes.size(), path, options);
}

}  // namespace soft
