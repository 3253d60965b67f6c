// `--help` for a terminal of 80 columns: descriptions are wrapped beside their flags, examples with
// a backslash, so that they can still be copied.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace soft {

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(26); }
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
};

}  // namespace soft
