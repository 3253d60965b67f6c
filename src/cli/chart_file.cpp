#include "cli/chart_file.h"

#include <filesystem>
#include <ostream>

#include "base/error.h"
#include "base/file.h"
#include "cli/output.h"
#include "image/codec.h"

namespace soft {
namespace {

std::string ending_of(const std::string& path) {
  return std::filesystem::path(path).extension().string();
}

std::string png_of(const Drawing& drawing) {
  Pixels pixels = to_pixels(drawing);
  Image image;
  image.width = pixels.width;
  image.height = pixels.height;
  image.rgb = std::move(pixels.rgb);
  const auto bytes = encode_png(image);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

void check_chart_file(const std::string& path) {
  if (ending_of(path) != ".svg" && ending_of(path) != ".png") {
    fail_usage("a chart is an .svg or a .png file, not '{}'", path);
  }
  check_output(path);
}

void write_chart(const std::string& path, const Drawing& drawing) {
  const std::string bytes = ending_of(path) == ".png" ? png_of(drawing) : to_svg(drawing);
  write_atomically(path, [&](std::ostream& out) { out << bytes; });
}

}  // namespace soft
