#include "image/png_note.h"

#include <zlib.h>

#include <cstdint>

namespace soft {
namespace {

constexpr std::string_view kRawExif = "Raw profile type exif", kXmp = "XML:com.adobe.xmp";
constexpr size_t kLongestText = size_t{1} << 20;  // Pillow's limit

// What stands before the first `end`; `text` continues behind it. Without an end it is everything.
std::string_view take_until(std::string_view& text, char end) {
  const size_t at = text.find(end);
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return taken;
}

// "" when it is damaged or longer than it may be.
std::string unpacked(std::string_view packed) {
  std::string text(kLongestText, '\0');
  uLongf size = text.size();
  const int status = ::uncompress(reinterpret_cast<Bytef*>(text.data()), &size,
                                  reinterpret_cast<const Bytef*>(packed.data()), packed.size());
  text.resize(status == Z_OK ? size : 0);
  return text;
}

// tEXt: name 0 text; zTXt: name 0 method text; iTXt: name 0 packed method language 0 name 0 text.
std::string text_of(std::string_view kind, std::string_view rest) {
  bool packed = kind == "zTXt";
  if (kind == "iTXt") {
    packed = !rest.empty() && rest[0] != 0;
    rest.remove_prefix(rest.size() < 2 ? rest.size() : 2);
    take_until(rest, '\0');
    take_until(rest, '\0');
  } else if (packed) {
    rest.remove_prefix(rest.empty() ? 0 : 1);
  }
  return packed ? unpacked(rest) : std::string(rest.substr(0, kLongestText));
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// ImageMagick's way: an empty line, a name, a length, then lines of hexadecimal digits.
std::string from_hex(std::string_view text) {
  for (int line = 0; line < 3; ++line) take_until(text, '\n');
  std::string bytes;
  int high = -1;
  for (const char c : text) {
    if (c == '\n' || c == ' ') continue;
    const int digit = hex_digit(c);
    if (digit < 0) return "";
    if (high < 0) {
      high = digit;
    } else {
      bytes.push_back(static_cast<char>(high << 4 | digit));
      high = -1;
    }
  }
  return high < 0 ? bytes : "";
}

// Some writers keep JPEG's header in front.
std::string without_header(std::string_view exif) {
  constexpr std::string_view kHeader("Exif\0\0", 6);
  while (exif.substr(0, kHeader.size()) == kHeader) exif.remove_prefix(kHeader.size());
  return std::string(exif);
}

uint32_t big_endian(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

}  // namespace

PngNotes png_notes(std::string_view file) {
  PngNotes notes;
  std::string raw_exif;
  for (size_t at = 8; at + 12 <= file.size();) {  // length, kind, data, checksum
    const size_t length = big_endian(file.substr(at));
    const std::string_view kind = file.substr(at + 4, 4);
    std::string_view data = file.substr(at + 8, length);
    at += 12 + length;
    if (kind == "eXIf") notes.exif = without_header(data);
    if (kind != "tEXt" && kind != "zTXt" && kind != "iTXt") continue;
    const std::string_view name = take_until(data, '\0');
    if (name == kRawExif) raw_exif = without_header(from_hex(text_of(kind, data)));
    if (name == kXmp) notes.xmp = text_of(kind, data);
  }
  if (notes.exif.empty()) notes.exif = std::move(raw_exif);
  return notes;
}

}  // namespace soft
