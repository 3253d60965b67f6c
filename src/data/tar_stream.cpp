#include "data/tar_stream.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace soft {
namespace {

constexpr uint64_t kBlock = 512;

uint64_t padded(uint64_t size) { return (size + kBlock - 1) / kBlock * kBlock; }

std::string_view text_of(const uint8_t* field, size_t most) {
  const char* text = reinterpret_cast<const char*>(field);
  return {text, strnlen(text, most)};
}

uint64_t octal(const uint8_t* field, size_t digits) {
  uint64_t value = 0;
  for (size_t i = 0; i < digits; ++i) {
    if (field[i] >= '0' && field[i] <= '7') value = 8 * value + (field[i] - '0');
  }
  return value;
}

bool checksum_fits(const uint8_t* block) {
  uint64_t sum = 0;
  for (size_t i = 0; i < kBlock; ++i) sum += i >= 148 && i < 156 ? ' ' : block[i];
  return sum == octal(block + 148, 8);
}

std::string name_of(const uint8_t* block) {
  const std::string name(text_of(block, 100));
  const bool ustar = std::memcmp(block + 257, "ustar", 6) == 0;
  if (!ustar || block[345] == 0) return name;
  return std::string(text_of(block + 345, 155)) + "/" + name;
}

// The value of "path" among a pax header's lines "LENGTH KEY=VALUE\n"; "" where it has none.
std::string pax_path(const std::string& lines) {
  const size_t key = lines.find(" path=");
  if (key == std::string::npos) return "";
  const size_t first = key + 6;
  return lines.substr(first, lines.find('\n', first) - first);
}

}  // namespace

bool TarStream::header(uint8_t (&block)[512]) {
  size_t have = 0;
  while (have < kBlock) {
    const size_t got = file_.read_some(block + have, kBlock - have);
    if (got == 0) break;
    have += got;
  }
  if (have == 0) return false;
  if (have < kBlock) fail("'{}' is truncated", file_.path());
  if (std::all_of(block, block + kBlock, [](uint8_t byte) { return byte == 0; })) return false;
  if (!checksum_fits(block)) fail("'{}' is no tar archive, or it is damaged", file_.path());
  return true;
}

void TarStream::skip(uint64_t bytes) {
  std::array<uint8_t, 1 << 16> nothing;
  while (bytes > 0) {
    const size_t got = file_.read_some(nothing.data(), std::min<uint64_t>(bytes, nothing.size()));
    if (got == 0) fail("'{}' is truncated within '{}'", file_.path(), name_);
    bytes -= got;
  }
}

std::string TarStream::long_name(uint64_t bytes) {
  constexpr uint64_t kLongest = 1 << 16;
  if (bytes > kLongest) fail("'{}' has a name of {} bytes", file_.path(), bytes);
  const auto raw = file_.read(padded(bytes));
  return {raw.begin(), raw.begin() + static_cast<int64_t>(bytes)};
}

bool TarStream::next() {
  skip(std::exchange(left_, 0));
  std::string given;
  uint8_t block[512];
  while (header(block)) {
    const char kind = static_cast<char>(block[156]);
    size_ = octal(block + 124, 12);
    if (kind == 'L' || kind == 'x') {
      const std::string more = long_name(size_);
      given = kind == 'L' ? more.substr(0, more.find('\0')) : pax_path(more);
      continue;
    }
    name_ = given.empty() ? name_of(block) : given;
    given.clear();
    left_ = padded(size_);
    if (kind == '0' || kind == '\0') return true;
    skip(std::exchange(left_, 0));
  }
  return false;
}

std::string TarStream::start(uint64_t most) {
  std::string text(std::min(size_, most), '\0');
  for (size_t have = 0; have < text.size();) {
    const size_t got =
        file_.read_some(reinterpret_cast<uint8_t*>(text.data()) + have, text.size() - have);
    if (got == 0) fail("'{}' is truncated within '{}'", file_.path(), name_);
    have += got;
  }
  left_ -= text.size();
  return text;
}

}  // namespace soft
