// CSV as RFC 4180 has it: fields with commas, quotes or line breaks are quoted.
#pragma once

#include <string>

namespace soft {

inline std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace soft
