#include "cli/size.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/error.h"
#include "spec/model_spec.h"

namespace soft {
namespace {

int64_t parse_side(std::string_view text, const std::string& size) {
  int64_t side = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), side);
  const bool whole = code == std::errc() && end == text.data() + text.size();
  if (!whole || side < kSmallestSide || side > kLargestSide) {
    fail_usage("--size '{}' must be N or HxW with {} to {} pixels per side", size, kSmallestSide,
               kLargestSide);
  }
  return side;
}

}  // namespace

Grid parse_size(const std::string& text) {
  const std::string_view size = text;
  const size_t cross = size.find('x');
  const int64_t height = parse_side(size.substr(0, cross), text);
  if (cross == std::string::npos) return {height, height};
  return {height, parse_side(size.substr(cross + 1), text)};
}

int64_t parse_bytes(const std::string& text) {
  constexpr double kMost = 1e18;
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string unit(end, text.data() + text.size());
  unit.erase(std::remove(unit.begin(), unit.end(), ' '), unit.end());
  std::transform(unit.begin(), unit.end(), unit.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  double scale = 1;
  for (const char* known : {"", "KB", "MB", "GB", "TB"}) {
    const bool whole = code == std::errc() && number * scale >= 1 && number * scale < kMost;
    if (unit == known && whole) return static_cast<int64_t>(number * scale);
    scale *= 1000;
  }
  fail_usage("'{}' is no size; write 1GB, 500MB or a number of bytes", text);
}

}  // namespace soft
