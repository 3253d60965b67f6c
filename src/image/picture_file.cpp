#include "image/picture_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>

#include "image/format.h"

namespace soft {
namespace {

// Those of formats that are not read, too: such a file is a picture, and an error.
constexpr std::string_view kEndings[] = {
    "jpg", "jpeg", "jpe",  "jfif", "png",  "webp", "gif", "bmp", "dib", "tif", "tiff", "ppm", "pgm",
    "pbm", "pnm",  "heic", "heif", "avif", "jxl",  "jp2", "j2k", "qoi", "psd", "tga",  "ico"};

// Text that describes a picture, or documents that may hold one, are not what a camera writes.
constexpr std::string_view kDocuments[] = {"PDF", "PostScript", "SVG"};

template <size_t N>
bool is_among(const std::string_view (&list)[N], std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

}  // namespace

bool has_picture_ending(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || name.find('/', dot) != std::string_view::npos) return false;
  std::string ending(name.substr(dot + 1));
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return is_among(kEndings, ending);
}

bool is_picture_file(const std::string& path) {
  if (has_picture_ending(path)) return true;
  std::ifstream file(path, std::ios::binary);
  if (!file) return true;
  uint8_t start[16] = {};
  file.read(reinterpret_cast<char*>(start), sizeof(start));
  const FormatName format = format_of(start, static_cast<size_t>(file.gcount()));
  return !format.name.empty() && !is_among(kDocuments, format.name);
}

void Skipped::add(const std::string& path) {
  if (count++ == 0 || path < first) first = path;
}

void Skipped::add(const Skipped& more) {
  if (more.count == 0) return;
  if (count == 0 || more.first < first) first = more.first;
  count += more.count;
}

std::string Skipped::notice(const std::string& folder) const {
  if (count == 0) return "";
  const bool one = count == 1;
  return fmt::format(
      "'{}': {} file{} skipped that {} no picture{} ({}'{}'); --strict takes every file", folder,
      count, one ? "" : "s", one ? "is" : "are", one ? "" : "s", one ? "" : "the first: ", first);
}

}  // namespace soft
