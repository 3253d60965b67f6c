// What every command has in common.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/json.h"

namespace soft {

struct CommandText {
  std::string name;
  std::string group;     // heading in `soft --help`
  std::string what;      // one line
  std::string examples;  // one a line; they end the command's --help
};

// Adds a subcommand that understands --threads and --help.
CLI::App* add_command(CLI::App& app, const CommandText& text);

void add_json_flag(CLI::App* command, bool& json);

// Checks of a flag's value. CLI11's own ranges let NaN through, and a sign into an unsigned number.
CLI::Validator finite_number();
CLI::Validator whole_number();  // 0 to 2^64 - 1

// One line on stdout. Bytes that are not UTF-8 (file names may hold any) are replaced.
void print_json(const Json& json);

}  // namespace soft
