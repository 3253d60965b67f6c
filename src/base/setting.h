// Values of `key=value` settings. A value that does not parse is a usage error that names its key.
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace soft {

template <class Integer>
Integer parse_whole(std::string_view key, std::string_view text) {
  Integer value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) {
    fail_usage("{}={} is not a whole number in range", key, text);
  }
  return value;
}

double parse_real(std::string_view key, std::string_view text);
bool parse_switch(std::string_view key, std::string_view text);  // on or off
std::vector<int> parse_list(std::string_view key, std::string_view text, size_t count);

// The two halves of "key=value".
struct Setting {
  std::string key, value;
};
Setting parse_setting(std::string_view text);

}  // namespace soft
