#include "data/natural.h"

#include <algorithm>

namespace soft {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

unsigned char lower(char c) {
  return static_cast<unsigned char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

// Takes the run of digits off the front, without leading zeros.
std::string_view take_number(std::string_view& text) {
  const auto is_other = [](char c) { return !is_digit(c); };
  const auto end = std::find_if(text.begin(), text.end(), is_other);
  std::string_view number = text.substr(0, end - text.begin());
  text.remove_prefix(number.size());
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
  return number;
}

int compare_numbers(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

// Text and numbers alternate; a text that ends, at a number or for good, comes before a longer one.
int compare(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (is_digit(a[0]) && is_digit(b[0])) {
      const int order = compare_numbers(take_number(a), take_number(b));
      if (order != 0) return order;
      continue;
    }
    if (is_digit(a[0]) != is_digit(b[0])) return is_digit(a[0]) ? -1 : 1;
    if (lower(a[0]) != lower(b[0])) return lower(a[0]) < lower(b[0]) ? -1 : 1;
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return static_cast<int>(b.empty()) - static_cast<int>(a.empty());
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  const int order = compare(a, b);
  return order != 0 ? order < 0 : a < b;
}

}  // namespace soft
