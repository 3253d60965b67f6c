#include "cli/command.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "base/parallel.h"

namespace soft {
namespace {

constexpr int kMostThreads = 1024;

std::string indented(const std::string& lines) {
  std::istringstream in(lines);
  std::string text;
  for (std::string line; std::getline(in, line);) text += "\n  " + line;
  return text;
}

}  // namespace

CLI::App* add_command(CLI::App& app, const CommandText& text) {
  CLI::App* command = app.add_subcommand(text.name, text.what);
  command->group(text.group);
  command->option_defaults()->take_last();  // a flag given twice: the later one counts
  command->set_help_flag("-h,--help", "Print this help");
  command->add_option_function<int>("--threads", set_threads, "Threads to use (default: all cores)")
      ->check(CLI::Range(1, kMostThreads).description(""))
      ->type_name("N");
  const bool several = text.examples.find('\n') != std::string::npos;
  command->footer((several ? "Examples:" : "Example:") + indented(text.examples));
  return command;
}

void add_json_flag(CLI::App* command, bool& json) {
  command->add_flag("--json", json, "Print JSON");
}

CLI::Validator finite_number() {
  const auto complaint = [](const std::string& text) -> std::string {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (!text.empty() && *end == '\0' && std::isfinite(value)) return "";
    return fmt::format("'{}' is not a finite number", text);
  };
  return {complaint, ""};
}

CLI::Validator whole_number() {
  const auto complaint = [](const std::string& text) -> std::string {
    uint64_t value = 0;
    const char* last = text.data() + text.size();
    const auto [end, code] = std::from_chars(text.data(), last, value);
    if (code == std::errc() && end == last) return "";
    return fmt::format("'{}' is not a whole number from 0 up", text);
  };
  return {complaint, ""};
}

void print_json(const Json& json) {
  fmt::print("{}\n", json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace soft
