#include "image/exif.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "image/png_note.h"

namespace soft {
namespace {

// Bytes read at offsets that come from the file itself: outside the end everything is zero, so a
// damaged file leads to orientation 1 and nowhere else.
class Bytes {
 public:
  Bytes() = default;
  Bytes(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  size_t size() const { return size_; }
  uint32_t u8(size_t at) const { return at < size_ ? data_[at] : 0; }
  uint32_t u16(size_t at, bool big) const {
    return big ? u8(at) << 8 | u8(at + 1) : u8(at) | u8(at + 1) << 8;
  }
  uint32_t u32(size_t at, bool big) const {
    return big ? u16(at, big) << 16 | u16(at + 2, big) : u16(at, big) | u16(at + 2, big) << 16;
  }
  Bytes part(size_t at, size_t count) const {
    if (at >= size_) return {};
    return {data_ + at, std::min(count, size_ - at)};
  }
  bool starts_with(std::string_view text) const {
    return size_ >= text.size() &&
           std::equal(text.begin(), text.end(), data_,
                      [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; });
  }

 private:
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

constexpr std::string_view kExifHeader("Exif\0\0", 6);

// JPEG: APP1 among the segments before the first scan; stray bytes between segments are skipped.
Bytes exif_of_jpeg(Bytes file) {
  constexpr uint32_t kApp1 = 0xe1, kStartOfScan = 0xda;
  size_t at = 2;
  while (at + 4 <= file.size()) {
    const uint32_t marker = file.u8(at + 1);
    if (file.u8(at) != 0xff || marker == 0xff || marker == 0) {
      ++at;
      continue;
    }
    if (marker == kStartOfScan) break;
    const size_t length = std::max<size_t>(file.u16(at + 2, true), 2);
    const Bytes segment = file.part(at + 4, length - 2);
    if (marker == kApp1 && segment.starts_with(kExifHeader)) {
      return segment.part(kExifHeader.size(), segment.size());
    }
    at += 2 + length;
  }
  return {};
}

// WebP: name, length, data padded to an even size; some writers keep JPEG's header in front.
Bytes exif_of_webp(Bytes file) {
  for (size_t at = 12; at + 8 <= file.size();) {
    const size_t length = file.u32(at + 4, false);
    if (file.part(at, 4).starts_with("EXIF")) {
      const Bytes exif = file.part(at + 8, length);
      return exif.starts_with(kExifHeader) ? exif.part(kExifHeader.size(), length) : exif;
    }
    at += 8 + length + length % 2;
  }
  return {};
}

Bytes exif_of(Format format, Bytes file) {
  switch (format) {
    case Format::kJpeg:
      return exif_of_jpeg(file);
    case Format::kWebp:
      return exif_of_webp(file);
    case Format::kPng:  // may have to be unpacked first
    case Format::kUnsupported:
      break;
  }
  return {};
}

constexpr int kNotSaid = 0;

int valid(int value) { return value >= 1 && value <= 8 ? value : 1; }

int orientation_in(Bytes tiff) {
  constexpr uint32_t kOrientation = 0x0112, kShort = 3;
  const bool big = tiff.starts_with("MM");
  if (!big && !tiff.starts_with("II")) return kNotSaid;
  const size_t directory = tiff.u32(4, big);
  const size_t entries = tiff.u16(directory, big);
  for (size_t i = 0; i < entries; ++i) {
    const size_t entry = directory + 2 + 12 * i;
    if (tiff.u16(entry, big) == kOrientation && tiff.u16(entry + 2, big) == kShort) {
      return valid(static_cast<int>(tiff.u16(entry + 8, big)));
    }
  }
  return kNotSaid;
}

// XMP is XML: an attribute tiff:Orientation="6" or an element <tiff:Orientation>6</…>.
int orientation_in_xmp(std::string_view text) {
  constexpr std::string_view kName = "tiff:Orientation";
  for (size_t at = text.find(kName); at != text.npos; at = text.find(kName, at + 1)) {
    std::string_view rest = text.substr(at + kName.size());
    const size_t mark = rest.substr(0, 2) == "=\"" ? 2 : rest.substr(0, 1) == ">" ? 1 : 0;
    rest.remove_prefix(mark);
    if (mark > 0 && !rest.empty() && rest[0] >= '0' && rest[0] <= '9') return valid(rest[0] - '0');
  }
  return kNotSaid;
}

int orientation_of_png(std::string_view file) {
  const PngNotes notes = png_notes(file);
  const Bytes exif(reinterpret_cast<const uint8_t*>(notes.exif.data()), notes.exif.size());
  const int said = orientation_in(exif);
  return said != kNotSaid ? said : orientation_in_xmp(notes.xmp);
}

}  // namespace

int exif_orientation(Format format, const uint8_t* bytes, size_t size) {
  const int said = format == Format::kPng
                       ? orientation_of_png({reinterpret_cast<const char*>(bytes), size})
                       : orientation_in(exif_of(format, Bytes(bytes, size)));
  return said == kNotSaid ? 1 : said;
}

Image upright(const Image& image, int orientation) {
  if (orientation == 1) return image;
  const bool turned = orientation >= 5;  // rows become columns
  const bool mirror_x =
      orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool mirror_y =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  Image out = turned ? Image(image.height, image.width) : Image(image.width, image.height);
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) {
      int column = turned ? y : x, row = turned ? x : y;
      if (mirror_x) column = image.width - 1 - column;
      if (mirror_y) row = image.height - 1 - row;
      std::copy_n(image.pixel(column, row), 3, out.pixel(x, y));
    }
  }
  return out;
}

}  // namespace soft
