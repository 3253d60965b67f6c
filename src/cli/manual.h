// Manual pages and shell completion, from the same definitions that parse the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace soft {

struct ManualPage {
  std::string name;  // "soft-bench-model"
  std::string text;  // troff, for man(7)
};

// One for the program and one for each of its commands, those of commands included.
std::vector<ManualPage> manual_pages(const CLI::App& app);

// A script for bash: the commands, and the flags of each.
std::string bash_completion(const CLI::App& app);

}  // namespace soft
