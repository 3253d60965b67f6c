// Bytes from a stranger: ranges and little-endian numbers, never read outside their bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/error.h"

namespace soft {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "weights files are little-endian and their tensors are used in place");

struct Bytes {
  const uint8_t* data = nullptr;
  size_t size = 0;

  // `what` names the part in the error when it lies outside.
  Bytes slice(uint64_t offset, uint64_t length, std::string_view what) const {
    if (offset > size || length > size - offset) {
      fail("{} at byte {} with {} bytes lies outside the file; it is truncated or corrupt", what,
           offset, length);
    }
    return {data + offset, static_cast<size_t>(length)};
  }
  std::string_view text() const { return {reinterpret_cast<const char*>(data), size}; }
};

class Cursor {
 public:
  Cursor(Bytes bytes, std::string_view what) : bytes_(bytes), what_(what) {}

  Bytes take(uint64_t length) {
    if (length > bytes_.size - position_) fail("{} is truncated or corrupt", what_);
    const Bytes taken{bytes_.data + position_, static_cast<size_t>(length)};
    position_ += taken.size;
    return taken;
  }

  template <class Number>
  Number read() {
    Number value;
    std::memcpy(&value, take(sizeof(value)).data, sizeof(value));
    return value;
  }

  std::string_view line() {  // up to the next newline, which is consumed
    const std::string_view rest = bytes_.text().substr(position_);
    const std::string_view text = take(rest.find('\n')).text();  // npos is longer than any range
    take(1);
    return text;
  }

  bool at_end() const { return position_ == bytes_.size; }

 private:
  Bytes bytes_;
  std::string_view what_;
  size_t position_ = 0;
};

}  // namespace soft
