#include "cli/settings.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "base/error.h"
#include "base/nearest.h"

namespace soft {
namespace {

using Values = std::vector<std::string>;

std::string key_of(const CLI::Option* option) { return option->get_lnames().front(); }

std::string variable_of(const std::string& prefix, const std::string& name) {
  std::string variable = prefix;
  for (const char c : name) variable += c == '-' ? '_' : static_cast<char>(std::toupper(c));
  return variable;
}

// "max-batch" -> its values, by CLI11's own reader.
std::map<std::string, Values> read_ini(const std::string& path) {
  std::ifstream file(path);
  if (!file) fail("cannot read the settings in '{}'; is it there?", path);
  std::map<std::string, Values> found;
  try {
    for (const CLI::ConfigItem& item : CLI::ConfigINI().from_config(file)) {
      if (item.name == "++" || item.name == "--") continue;  // sections open and close
      if (!item.parents.empty() && item.parents.front() != "serve") {
        fail_usage("'{}' has a section [{}]; leave it out", path, item.parents.front());
      }
      found[item.name] = item.inputs;
    }
  } catch (const CLI::Error& error) {
    fail_usage("'{}': {}", path, error.what());
  }
  return found;
}

void check_names(const std::map<std::string, Values>& found,
                 const std::vector<FlagSetting>& settings, const std::string& path) {
  std::vector<std::string> names;
  for (const FlagSetting& setting : settings) names.push_back(key_of(setting.option));
  for (const auto& [name, values] : found) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    fail_usage("'{}' sets '{}', which does not exist{}; --print-config lists what does", path, name,
               hint(name, {names.begin(), names.end()}));
  }
}

void set(CLI::Option* option, const Values& values, const std::string& source) {
  try {
    for (const std::string& value : values) option->add_result(value);
    option->run_callback();
  } catch (const CLI::ParseError& error) {
    fail_usage("{}: {}", source, error.what());
  }
}

// Words of a variable: "a b" are two for a flag that takes several.
Values split(const CLI::Option* option, const std::string& text) {
  if (option->get_expected_max() <= 1) return {text};
  return CLI::detail::split_up(text);
}

std::string quoted(const std::string& value) {
  const bool plain = !value.empty() && value.find_first_of(" \t\"'#;=[],") == std::string::npos;
  return plain ? value : "\"" + value + "\"";
}

}  // namespace

void fill_in(const std::vector<FlagSetting>& settings, const std::string& prefix,
             const std::string& file) {
  const std::map<std::string, Values> found =
      file.empty() ? std::map<std::string, Values>() : read_ini(file);
  check_names(found, settings, file);
  for (const FlagSetting& setting : settings) {
    if (setting.option->count() > 0) continue;
    const std::string name = key_of(setting.option), variable = variable_of(prefix, name);
    const char* text = std::getenv(variable.c_str());
    const auto line = found.find(name);
    if (text != nullptr && *text != '\0') {
      set(setting.option, split(setting.option, text), variable);
    } else if (line != found.end()) {
      set(setting.option, line->second, "'" + file + "'");
    }
  }
}

std::string ini_of(const std::vector<FlagSetting>& settings) {
  std::string text;
  for (const FlagSetting& setting : settings) {
    const Values values = setting.values();
    text += (values.empty() ? "# " : "") + key_of(setting.option) + "=";
    for (size_t i = 0; i < values.size(); ++i) text += (i == 0 ? "" : " ") + quoted(values[i]);
    text += "\n";
  }
  return text;
}

}  // namespace soft
