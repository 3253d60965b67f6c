// Text of strangers made fit for a terminal and for messages of one line: no byte of it can move a
// cursor, change a colour or end the line.
#pragma once

#include <string>
#include <string_view>

namespace soft {

inline bool is_printable(char c) { return c >= ' ' && c <= '~'; }

// Its first 256 characters, with question marks for what cannot be printed.
inline std::string printable(std::string_view text) {
  constexpr size_t kLongest = 256;
  std::string shown(text.substr(0, kLongest));
  for (char& c : shown) {
    if (!is_printable(c)) c = '?';
  }
  return shown;
}

// The whole text as people wrote it, UTF-8 included; a question mark for every control character
// and for every byte that is no UTF-8.
std::string shown(std::string_view text);

}  // namespace soft
