// Numbers and texts in a row of bytes, little-endian; a text is its size and its bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace soft {

class PackedWriter {
 public:
  void number(uint64_t value) {
    for (int i = 0; i < 8; ++i) bytes_ += static_cast<char>(value >> (8 * i));
  }
  void text(std::string_view value) {
    number(value.size());
    bytes_ += value;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// What is missing reads as 0 or "", and `ok` is false from then on.
class PackedReader {
 public:
  explicit PackedReader(std::string_view bytes) : bytes_(bytes) {}

  uint64_t number() {
    uint64_t value = 0;
    const std::string_view digits = take(8);
    for (size_t i = 0; i < digits.size(); ++i) {
      value |= uint64_t{static_cast<uint8_t>(digits[i])} << (8 * i);
    }
    return value;
  }
  int64_t whole() { return static_cast<int64_t>(number()); }
  std::string_view text() { return take(number()); }

  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && bytes_.empty(); }

 private:
  std::string_view take(uint64_t size) {
    if (size > bytes_.size()) ok_ = false;
    if (!ok_) return {};
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }

  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace soft
