#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace soft {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The first `columns` characters of UTF-8.
std::string_view front(std::string_view text, size_t columns) {
  size_t at = 0;
  for (size_t seen = 0; at < text.size(); ++at) {
    if (!continues(text[at]) && ++seen > columns) break;
  }
  return text.substr(0, at);
}

// Behind the last comma of a list without spaces that still fits; npos when there is none.
size_t list_break(std::string_view line, size_t first) {
  const size_t comma = line.substr(0, line.size() - 1).rfind(',');
  return comma == std::string_view::npos || comma < first ? std::string_view::npos : comma + 1;
}

}  // namespace

bool is_terminal(int descriptor) {
  const std::string kind = variable("TERM");
  return isatty(descriptor) == 1 && !kind.empty() && kind != "dumb";
}

bool takes_colour(int descriptor) {
  return is_terminal(descriptor) && variable("NO_COLOR").empty();
}

bool takes_unicode() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {  // the first that is set counts
    const std::string value = variable(name);
    if (!value.empty()) {
      return value.find("UTF-8") != std::string::npos || value.find("utf8") != std::string::npos;
    }
  }
  return false;
}

size_t terminal_columns(int descriptor) {
  winsize size{};
  const bool known = ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kColumns;
}

size_t columns_of(std::string_view text) {
  size_t columns = 0;
  for (const char c : text) columns += continues(c) ? 0 : 1;
  return columns;
}

std::string cut(std::string_view text, size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  if (columns <= 2) return std::string(front(text, columns));
  return std::string(front(text, columns - 2)) + "..";
}

std::string wrapped(std::string_view text, size_t indent, size_t columns) {
  std::string out;
  std::string margin;  // of the present line
  while (columns_of(margin) + columns_of(text) > columns) {
    const std::string_view line = front(text, columns - margin.size() + 1);
    const size_t first = text.find_first_not_of(' ');  // its own indentation is no place to break
    size_t space = line.rfind(' ');
    if (space == std::string_view::npos || space < first) space = list_break(line, first);
    if (space == std::string_view::npos) space = text.find(' ', first);
    if (space == std::string_view::npos) break;
    out += margin + std::string(text.substr(0, space)) + "\n";
    text.remove_prefix(text.find_first_not_of(' ', space) == std::string_view::npos
                           ? text.size()
                           : text.find_first_not_of(' ', space));
    margin.assign(indent, ' ');
  }
  return out + margin + std::string(text);
}

}  // namespace soft
