#include "data/bytes_literal.h"

#include <cctype>

#include "base/error.h"
#include "base/printable.h"

namespace soft {

bool is_bytes_literal(std::string_view start) {
  return start.size() >= 2 && start[0] == 'b' && (start[1] == '\'' || start[1] == '"');
}

void BytesLiteral::take(std::string_view piece, std::string& out) {
  for (char c : piece) step(c, out);
}

void BytesLiteral::escape(char c, std::string& out) {
  constexpr std::string_view kNames = "\\'\"nrtabfv0", kBytes("\\'\"\n\r\t\a\b\f\v\0", 11);
  if (c == 'x') {
    state_ = State::kHex;
    digits_ = value_ = 0;
    return;
  }
  const size_t at = kNames.find(c);
  if (at == kNames.npos) fail("'\\{}' is no escape of a bytes literal", printable({&c, 1}));
  out += kBytes[at];
  state_ = State::kPlain;
}

void BytesLiteral::step(char c, std::string& out) {
  switch (state_) {
    case State::kPrefix:
      state_ = State::kQuote;
      return;
    case State::kQuote:
      quote_ = c;
      state_ = State::kPlain;
      return;
    case State::kPlain:
      if (c == quote_) {
        state_ = State::kClosed;
      } else if (c == '\\') {
        state_ = State::kEscape;
      } else {
        out += c;
      }
      return;
    case State::kEscape:
      return escape(c, out);
    case State::kHex:
      if (std::isxdigit(static_cast<unsigned char>(c)) == 0) {
        fail("'\\x' of a bytes literal is followed by '{}'", printable({&c, 1}));
      }
      value_ = 16 * value_ + (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
      if (++digits_ < 2) return;
      out += static_cast<char>(value_);
      state_ = State::kPlain;
      return;
    case State::kClosed:
      fail("'{}' comes after the end of a bytes literal", printable({&c, 1}));
  }
}

}  // namespace soft
