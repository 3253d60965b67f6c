// What the terminal at the other end can show, and text cut and wrapped for it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace soft {

constexpr size_t kColumns = 80;  // what everything for people fits into

// A terminal that moves its cursor: neither a file, a pipe nor TERM=dumb.
bool is_terminal(int descriptor);
// Such a terminal, and nobody set NO_COLOR (https://no-color.org).
bool takes_colour(int descriptor);
bool takes_unicode();                     // the locale's encoding is UTF-8
size_t terminal_columns(int descriptor);  // kColumns when it does not say

size_t columns_of(std::string_view text);  // one for each character of UTF-8

// At most so many columns; what is cut off is marked with "..".
std::string cut(std::string_view text, size_t columns);

// Lines of at most `columns`, broken at spaces, or behind commas where there are none; the second
// and later ones begin with `indent` spaces. A word that is longer than a line stays whole.
std::string wrapped(std::string_view text, size_t indent, size_t columns = kColumns);

}  // namespace soft
