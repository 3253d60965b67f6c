#include "data/utf8.h"

namespace soft {

// Overlong forms, surrogates and numbers beyond U+10FFFF show in a character's second byte.
bool Utf8Check::step(uint8_t byte) {
  if (missing_ > 0) {
    const bool fits = byte >= low_ && byte <= high_;
    --missing_;
    low_ = 0x80;
    high_ = 0xbf;
    return fits;
  }
  if (byte < 0x80) return true;
  if (byte < 0xc2 || byte > 0xf4) return false;
  missing_ = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
  if (byte == 0xe0) low_ = 0xa0;
  if (byte == 0xed) high_ = 0x9f;
  if (byte == 0xf0) low_ = 0x90;
  if (byte == 0xf4) high_ = 0x8f;
  return true;
}

bool Utf8Check::take(const char* bytes, size_t count) {
  for (size_t i = 0; i < count && good_; ++i) {
    const auto byte = static_cast<uint8_t>(bytes[i]);
    if (missing_ > 0 || byte >= 0x80) good_ = step(byte);
  }
  return good_;
}

}  // namespace soft
