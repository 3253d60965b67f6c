#include "serve/parameters.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/nearest.h"

namespace soft {
namespace {

constexpr size_t kMost = 32;  // parameters; the API knows fewer than ten

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
    if (low < 0) fail_usage("'{}' has a % without two hexadecimal digits behind it", text);
    decoded += static_cast<char>(16 * high + low);
    i += 2;
  }
  return decoded;
}

void Parameters::add_query(std::string_view query) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos) {
      fail_usage("the parameter '{0}' has no value; write {0}=…", percent_decoded(pair));
    }
    add(percent_decoded(pair.substr(0, equals)), percent_decoded(pair.substr(equals + 1)));
  }
}

void Parameters::add(std::string name, std::string value) {
  if (values_.size() >= kMost) fail_usage("more than {} parameters; leave some out", kMost);
  if (!values_.emplace(name, std::move(value)).second) {
    fail_usage("the parameter '{}' is given twice; give it once", name);
  }
}

void Parameters::allow(const std::vector<std::string_view>& names) const {
  for (const auto& [name, value] : values_) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    if (names.empty()) fail_usage("unknown parameter '{}'; there are none here", name);
    fail_usage("unknown parameter '{}'{}; there are: {}", name, hint(name, names),
               fmt::join(names, ", "));
  }
}

int Parameters::integer(std::string_view name, const Range& range) const {
  return has(name) ? required_integer(name, range.least, range.most) : range.otherwise;
}

int Parameters::required_integer(std::string_view name, int least, int most) const {
  const auto found = values_.find(name);
  if (found == values_.end()) fail_usage("the parameter '{0}' is missing; add {0}=NUMBER", name);
  const std::string& text = found->second;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    fail_usage("{}='{}' is no whole number from {} to {}", name, text, least, most);
  }
  return value;
}

bool Parameters::is(std::string_view name, std::string_view value) const {
  const auto found = values_.find(name);
  return found != values_.end() && found->second == value;
}

std::string Parameters::text(std::string_view name) const {
  const auto found = values_.find(name);
  return found != values_.end() ? found->second : "";
}

}  // namespace soft
