#include "image/format.h"

namespace soft {
namespace {

using namespace std::string_view_literals;

struct Signature {
  size_t offset;
  std::string_view magic;
  FormatName format;
};

constexpr Signature unsupported(size_t offset, std::string_view magic, std::string_view name) {
  return {offset, magic, {Format::kUnsupported, name}};
}

constexpr Signature kSignatures[] = {
    {0, "\xff\xd8"sv, {Format::kJpeg, "JPEG"}},
    {0, "\x89PNG\r\n\x1a\n"sv, {Format::kPng, "PNG"}},
    {8, "WEBP"sv, {Format::kWebp, "WebP"}},
    unsupported(0, "GIF8"sv, "GIF"),
    unsupported(0, "BM"sv, "BMP"),
    unsupported(0, "II*\0"sv, "TIFF"),
    unsupported(0, "MM\0*"sv, "TIFF"),
    unsupported(0, "II+\0"sv, "TIFF"),
    unsupported(0, "MM\0+"sv, "TIFF"),
    unsupported(0, "\0\0\1\0"sv, "ICO"),
    unsupported(0, "\0\0\2\0"sv, "CUR"),
    unsupported(0, "8BPS"sv, "PSD"),
    unsupported(0, "qoif"sv, "QOI"),
    unsupported(0, "DDS "sv, "DDS"),
    unsupported(0, "v/1\1"sv, "EXR"),
    unsupported(0, "#?RADIANCE"sv, "HDR"),
    unsupported(0, "%PDF"sv, "PDF"),
    unsupported(0, "%!PS"sv, "PostScript"),
    unsupported(0, "<svg"sv, "SVG"),
    unsupported(0, "<?xml"sv, "SVG"),
    unsupported(0, "\xff\x4f\xff\x51"sv, "JPEG 2000"),
    unsupported(4, "jP  \r\n\x87\n"sv, "JPEG 2000"),
    unsupported(0, "\xff\x0a"sv, "JPEG XL"),
    unsupported(4, "JXL \r\n\x87\n"sv, "JPEG XL"),
    unsupported(4, "ftypavif"sv, "AVIF"),
    unsupported(4, "ftypavis"sv, "AVIF"),
    unsupported(4, "ftyphei"sv, "HEIC"),
    unsupported(4, "ftyphev"sv, "HEIC"),
    unsupported(4, "ftypmif1"sv, "HEIF"),
    unsupported(4, "ftypmsf1"sv, "HEIF"),
};

// P1 to P7, then white space: netpbm has no longer signature.
bool is_netpbm(std::string_view bytes) {
  return bytes.size() > 2 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '7' &&
         " \t\r\n"sv.find(bytes[2]) != std::string_view::npos;
}

}  // namespace

FormatName format_of(const uint8_t* bytes, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  for (const Signature& signature : kSignatures) {
    if (size >= signature.offset &&
        text.compare(signature.offset, signature.magic.size(), signature.magic) == 0) {
      return signature.format;
    }
  }
  if (is_netpbm(text)) return {Format::kUnsupported, "PPM"};
  return {};
}

}  // namespace soft
