#include "base/printable.h"

#include <cstdint>

namespace soft {
namespace {

// Bytes of the UTF-8 character at the front of `text`; 0 when there is none.
size_t character_bytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t size = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if ((first >= 0x80 && first < 0xC2) || first > 0xF4 || size > text.size()) return 0;
  for (size_t i = 1; i < size; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  }
  return size;
}

uint32_t code_point(std::string_view bytes) {
  const auto first = static_cast<unsigned char>(bytes[0]);
  if (bytes.size() == 1) return first;
  uint32_t code = first & (0xFFu >> (bytes.size() + 1));
  for (size_t i = 1; i < bytes.size(); ++i) {
    code = code << 6 | (static_cast<unsigned char>(bytes[i]) & 0x3Fu);
  }
  return code;
}

// C0, DEL and C1; overlong forms and halves of surrogate pairs; what turns the direction of a line.
bool is_harmful(uint32_t code, size_t bytes) {
  if (code < 0x20 || (code >= 0x7F && code < 0xA0)) return true;
  if ((bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000) || code > 0x10FFFF)
    return true;
  if (code >= 0xD800 && code < 0xE000) return true;
  return code == 0x2028 || code == 0x2029 || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string shown(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t bytes = character_bytes(text);
    const std::string_view character = text.substr(0, bytes == 0 ? 1 : bytes);
    const bool harmful = bytes == 0 || is_harmful(code_point(character), bytes);
    out += harmful ? std::string_view("?") : character;
    text.remove_prefix(character.size());
  }
  return out;
}

}  // namespace soft
