// Small made-up data sets and files for the tests of this room.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "data/dataset.h"
#include "data/tar_reader.h"
#include "data/tar_writer.h"
#include "image/codec.h"
#include "support/support.h"

namespace soft::test {

inline Image solid(int width, int height, uint8_t red, uint8_t green, uint8_t blue) {
  Image image(width, height);
  for (size_t i = 0; i < image.rgb.size(); i += 3) {
    image.rgb[i] = red;
    image.rgb[i + 1] = green;
    image.rgb[i + 2] = blue;
  }
  return image;
}

// Every pixel differs from its neighbours, so that shifts and flips show.
inline Image ramp(int width, int height) {
  Image image(width, height);
  for (size_t i = 0; i < image.rgb.size(); ++i) image.rgb[i] = static_cast<uint8_t>(i * 37 + i / 5);
  return image;
}

// `count` pictures of 8 x 8 pixels in four classes; picture i is the ramp with i added.
inline Dataset toy_dataset(int64_t count) {
  Dataset dataset;
  dataset.name = "toy";
  dataset.classes = {"a", "b", "c", "d"};
  dataset.native_size = 8;
  for (int64_t i = 0; i < count; ++i) dataset.labels.push_back(static_cast<int>(i % 4));
  dataset.load = [](int64_t index) {
    Image image = ramp(8, 8);
    for (uint8_t& value : image.rgb) value = static_cast<uint8_t>(value + index);
    return image;
  };
  dataset.describe = [](int64_t index) { return "toy/" + std::to_string(index); };
  return dataset;
}

inline std::string png_bytes(const Image& image) {
  const std::vector<uint8_t> bytes = encode_png(image);
  return {bytes.begin(), bytes.end()};
}

inline void write_png(const std::string& path, const Image& image) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  write_file(path, png_bytes(image));
}

using Members = std::vector<std::pair<std::string, std::string>>;  // names and contents

// A tar archive, without its end.
inline std::string tar_members(const Members& members) {
  std::ostringstream out;
  for (const auto& [name, content] : members) write_tar_member(out, name, content);
  return out.str();
}

inline std::string tar(const Members& members) {
  return tar_members(members) + std::string(2 * kTarBlock, '\0');
}

// So long ago that an index believes the time.
inline void make_old(const std::string& path) {
  using std::filesystem::last_write_time;
  last_write_time(path, last_write_time(path) - std::chrono::hours(1));
}

inline std::string big_endian(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16),
          static_cast<char>(value >> 8), static_cast<char>(value)};
}

inline std::string idx_images(uint32_t count, uint32_t height, uint32_t width) {
  std::string bytes =
      big_endian(0x803) + big_endian(count) + big_endian(height) + big_endian(width);
  for (uint32_t i = 0; i < count * height * width; ++i) bytes += static_cast<char>(i * 7 + 1);
  return bytes;
}

inline std::string idx_labels(const std::vector<uint8_t>& labels) {
  return big_endian(0x801) + big_endian(static_cast<uint32_t>(labels.size())) +
         std::string(labels.begin(), labels.end());
}

inline uint32_t crc32_of(const std::string& bytes) {
  uint32_t crc = ~0u;
  for (char byte : bytes) {
    crc ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  return ~crc;
}

// A gzip file with one stored block: at most 65,535 bytes.
inline std::string gzip(const std::string& bytes) {
  const auto little = [](uint32_t value, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += static_cast<char>(value >> (8 * i));
    return text;
  };
  const auto size = static_cast<uint32_t>(bytes.size());
  return std::string("\x1f\x8b\x08\0\0\0\0\0\0\xff\x01", 11) + little(size, 2) + little(~size, 2) +
         bytes + little(crc32_of(bytes), 4) + little(size, 4);
}

}  // namespace soft::test
