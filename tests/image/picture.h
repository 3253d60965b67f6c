// Pictures for the tests, as tests/golden/image/make.py makes them too, and its tables.
#pragma once

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "image/codec.h"
#include "image/transform.h"
#include "support/support.h"

namespace soft::test {

inline std::string hash_of(const Image& image) {  // FNV-1a
  uint64_t value = 0xcbf29ce484222325;
  for (const uint8_t byte : image.rgb) value = (value ^ byte) * 0x100000001b3;
  return fmt::format("{:016x}", value);
}

inline Image noise(int width, int height, int low = 0, int high = 256) {
  Image image(width, height);
  uint32_t state = 31 * width + height;
  for (uint8_t& value : image.rgb) {
    state = 1664525 * state + 1013904223;
    value = static_cast<uint8_t>(low + static_cast<int>(state >> 24) * (high - low) / 256);
  }
  return image;
}

// "photo:FILE", "cat:96x96", "noise:WxH" or "faint:WxH".
inline Image source(const std::string& text) {
  const size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon), rest = text.substr(colon + 1);
  if (kind == "photo") return read_image(photo(rest));
  if (kind == "cat") return crop(read_image(photo("cat_chelsea.png")), 150, 80, 96, 96);
  const int width = std::stoi(rest), height = std::stoi(rest.substr(rest.find('x') + 1));
  return kind == "faint" ? noise(width, height, 90, 130) : noise(width, height);
}

// Calls row(fields) for each line of a table in tests/golden/image.
template <class Row>
void for_each_row(const std::string& table, const Row& row) {
  std::ifstream file(golden("image/" + table));
  int rows = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    SCOPED_TRACE(line);
    row(fields);
    EXPECT_FALSE(fields.fail()) << line;
    ++rows;
  }
  EXPECT_GT(rows, 10) << table;
}

inline Image decode(const std::string& file, const DecodeOptions& options = {}) {
  return decode_image(reinterpret_cast<const uint8_t*>(file.data()), file.size(), "x", options);
}

inline std::string complaint(const std::string& file) {
  return error_of([&] { decode(file); });
}

inline Filter filter_named(const std::string& name) {
  return name == "bilinear" ? Filter::kBilinear : Filter::kBicubic;
}

}  // namespace soft::test
