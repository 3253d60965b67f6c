#include <png.h>

#include "base/error.h"
#include "data/fetch.h"

namespace soft {
namespace {

constexpr size_t kArea = size_t{32} * 32;  // pixels of a picture, all in one row of the strip

// RGB bytes [rows, kArea, 3].
std::vector<uint8_t> read_strip(const std::string& path, size_t rows) {
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_file(&header, path.c_str()) == 0) {
    fail("cannot read '{}': {}", path, header.message);
  }
  header.format = PNG_FORMAT_RGB;
  if (header.width != kArea || header.height != rows) {
    png_image_free(&header);
    fail("'{}' is {} x {} pixels, not {} x {}", path, header.width, header.height, kArea, rows);
  }
  std::vector<uint8_t> rgb(PNG_IMAGE_SIZE(header));
  if (png_image_finish_read(&header, nullptr, rgb.data(), 0, nullptr) == 0) {
    fail("cannot read '{}': {}", path, header.message);
  }
  return rgb;
}

}  // namespace

std::string cifar_batch_from_strip(const std::string& png, const std::vector<uint8_t>& labels) {
  const std::vector<uint8_t> rgb = read_strip(png, labels.size());
  std::string batch;
  batch.reserve(labels.size() * (1 + 3 * kArea));
  for (size_t row = 0; row < labels.size(); ++row) {
    batch += static_cast<char>(labels[row]);
    for (size_t channel = 0; channel < 3; ++channel) {
      const uint8_t* value = rgb.data() + 3 * kArea * row + channel;
      for (size_t i = 0; i < kArea; ++i) batch += static_cast<char>(value[3 * i]);
    }
  }
  return batch;
}

}  // namespace soft
