#include "base/setting.h"

#include <cmath>

namespace soft {

double parse_real(std::string_view key, std::string_view text) {
  size_t used = 0;
  double value = NAN;
  try {
    value = std::stod(std::string(text), &used);
  } catch (const std::logic_error&) {
    used = 0;
  }
  if (text.empty() || used != text.size() || !std::isfinite(value)) {
    fail_usage("{}={} is not a number", key, text);
  }
  return value;
}

bool parse_switch(std::string_view key, std::string_view text) {
  if (text == "on" || text == "true" || text == "1") return true;
  if (text == "off" || text == "false" || text == "0") return false;
  fail_usage("{}={} must be on or off", key, text);
}

std::vector<int> parse_list(std::string_view key, std::string_view text, size_t count) {
  std::vector<int> values;
  while (true) {
    const size_t comma = text.find(',');
    values.push_back(parse_whole<int>(key, text.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  if (values.size() != count) {
    fail_usage("{} needs {} comma-separated numbers, not {}", key, count, values.size());
  }
  return values;
}

Setting parse_setting(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    fail_usage("--set takes key=value, not '{}' (e.g. --set sampler=avg)", text);
  }
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

}  // namespace soft
