// Progress and warnings on stderr; stdout belongs to results.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

namespace soft {

void log_line(const std::string& line);  // "soft: line", whatever bytes names in it have
void log_once(const std::string& line);  // the same text is said only the first time

template <class... Args>
void log(fmt::format_string<Args...> format, Args&&... args) {
  log_line(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace soft
