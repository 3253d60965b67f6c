// Texts that somebody wrote with Python's repr: b'…' or b"…" with escapes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace soft {

bool is_bytes_literal(std::string_view start);  // by its first two characters

// Decodes a literal as it comes.
class BytesLiteral {
 public:
  // More of the literal; its bytes are added to `out`. Error for an escape that Python has not.
  void take(std::string_view piece, std::string& out);
  bool closed() const { return state_ == State::kClosed; }

 private:
  enum class State { kPrefix, kQuote, kPlain, kEscape, kHex, kClosed };

  void step(char c, std::string& out);
  void escape(char c, std::string& out);

  State state_ = State::kPrefix;
  char quote_ = 0;
  int digits_ = 0, value_ = 0;
};

}  // namespace soft
