#include "cli/cli.h"

#include <cstdio>
#include <iostream>

#include "base/error.h"
#include "base/nearest.h"
#include "base/parallel.h"

namespace soft {
namespace {

constexpr const char* kExamples =
    "Examples (`soft COMMAND --help` has more):\n"
    "  soft models\n"
    "  soft models norm\n"
    "  soft doctor";

void add_commands(CLI::App& app) {
  app.name("soft");
  app.set_version_flag("--version", "soft " SOFT_VERSION, "Print the version");
  app.set_help_flag("-h,--help", "Print this help");
  app.get_formatter()->label("SUBCOMMAND", "COMMAND ...");
  app.get_formatter()->column_width(26);
  app.require_subcommand(1);
  app.footer(kExamples);
  add_models(app);
  add_doctor(app);
  add_data(app);
  add_train(app);
}

// Views into names that CLI11 keeps for as long as the app lives.
std::vector<std::string_view> command_names(const CLI::App& app) {
  std::vector<std::string_view> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> flag_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// CLI11 would only say that a subcommand is missing.
void check_command(const CLI::App& app, const std::string& word) {
  const auto names = command_names(app);
  const bool known = std::find(names.begin(), names.end(), word) != names.end();
  if (known || word.empty() || word.front() == '-') return;
  fail_usage("unknown command '{}'{}; `soft --help` lists them all", word, hint(word, names));
}

// One line for any mistake in the arguments. A mistyped flag is named first, since it is often the
// reason why another one seems to be missing.
[[noreturn]] void explain(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  const std::string name = chosen.empty() ? "soft" : "soft " + command.get_name();
  const auto unexpected = app.remaining(true);
  if (unexpected.empty()) fail_usage("{}; see `{} --help`", error.what(), name);
  const std::string& word = unexpected.front();
  if (word.front() != '-') {
    fail_usage("one argument too many: '{}'; see `{} --help`", word, name);
  }
  const auto flags = flag_names(command);
  const std::string flag = word.substr(0, word.find('='));
  fail_usage("unknown flag '{}'{}; see `{} --help`", flag, hint(flag, {flags.begin(), flags.end()}),
             name);
}

}  // namespace

int run_command_line(int argc, const char* const* argv) {
  CLI::App app{"Softmax-free vision transformers with linear complexity"};
  add_commands(app);
  if (argc < 2) {
    std::cerr << app.help();
    return 2;
  }
  check_command(app, argv[1]);
  set_threads(0);  // all cores, unless --threads says otherwise
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& answer) {  // --help, --version
    return app.exit(answer);
  } catch (const CLI::ParseError& error) {
    explain(app, error);
  }
  return 0;
}

}  // namespace soft
