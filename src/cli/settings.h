// A command's flags from elsewhere: the environment, and an INI file. A flag that was given counts
// first, then its environment variable, then the file, then its default.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace soft {

// A flag and what it is set to.
struct FlagSetting {
  CLI::Option* option;
  std::function<std::vector<std::string>()> values;  // none: as if it had not been given
};

// Fills in what was not given: SOFT_SERVE_MAX_BATCH for --max-batch when `prefix` is "SOFT_SERVE_",
// or "max-batch=8" in the file, unless its path is empty. Usage errors name the source.
void fill_in(const std::vector<FlagSetting>& settings, const std::string& prefix,
             const std::string& file);

// All of them as an INI file, which fill_in reads back; those without a value as comments.
std::string ini_of(const std::vector<FlagSetting>& settings);

}  // namespace soft
