#include "cli/help.h"

#include <sstream>

#include "cli/terminal.h"

namespace soft {
namespace {

std::string wrapped_example(const std::string& line) {
  constexpr size_t kBackslash = 2;  // " \"
  std::string text = wrapped(line, 6, kColumns - kBackslash);
  for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 3)) {
    text.replace(at, 1, " \\\n");
  }
  return text;
}

}  // namespace

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode mode) const {
  std::istringstream lines(CLI::Formatter::make_help(app, std::move(name), mode));
  std::string text;
  bool examples = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("Example", 0) == 0) examples = true;
    const bool indented = line.rfind("  ", 0) == 0;
    text += examples && indented ? wrapped_example(line)
                                 : wrapped(line, indented ? get_column_width() : 2);
    text += "\n";
  }
  return text;
}

}  // namespace soft
