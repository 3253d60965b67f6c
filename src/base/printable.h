// Text of strangers made fit for an error message of one line.
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

}  // namespace soft
