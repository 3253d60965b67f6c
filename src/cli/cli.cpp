#include "cli/cli.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>

#include "base/error.h"
#include "base/nearest.h"
#include "base/parallel.h"
#include "cli/help.h"
#include "soft/version.h"

namespace soft {
namespace {

constexpr const char* kExamples =
    "Examples (`soft COMMAND --help` has more):\n"
    "  soft models\n"
    "  soft info soft-tiny --size 384\n"
    "  soft doctor";

void add_commands(CLI::App& app) {
  app.name("soft");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag("--version", "soft " SOFT_VERSION, "Print the version");
  app.set_help_flag("-h,--help", "Print this help");
  app.get_formatter()->label("SUBCOMMAND", "COMMAND ...");
  app.require_subcommand(1);
  app.footer(kExamples);
  add_models(app);
  add_info(app);
  add_doctor(app);
  add_forward(app);
  add_convert(app);
  add_onnx_export(app);
  add_quantize(app);
  add_data(app);
  add_train(app);
  add_launch(app);
  add_eval(app);
  add_classify(app);
  add_embed(app);
  add_attend(app);
  add_health(app);
  add_serve(app);
  add_bench(app);
  add_lra(app);
  add_generate(app);
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
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

std::string hint_among(const std::string& word, const std::vector<std::string>& names) {
  return hint(word, {names.begin(), names.end()});
}

// What is wrong, in one line. A word that nothing asked for is named first, since a mistyped flag
// is often the reason why another one seems to be missing.
std::string complaint(const CLI::App& command, const std::string& word, const char* otherwise) {
  if (word.empty()) return otherwise;
  if (word.front() == '-') {
    const std::string flag = word.substr(0, word.find('='));
    const auto flags = flag_names(command);
    const bool known = std::find(flags.begin(), flags.end(), flag) != flags.end();
    if (known) return fmt::format("'{}' belongs behind the name of the command", flag);
    return fmt::format("unknown flag '{}'{}", flag, hint_among(flag, flags));
  }
  const auto commands = command_names(command);
  if (commands.empty()) return fmt::format("one argument too many: '{}'", word);
  return fmt::format("unknown command '{}'{}", word, hint_among(word, commands));
}

[[noreturn]] void explain(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  std::string name = app.get_name();
  while (!command->get_subcommands().empty()) {  // the deepest one that was understood
    command = command->get_subcommands().front();
    name += " " + command->get_name();
  }
  const auto unexpected = app.remaining(true);
  // What stands behind "--" is for another command: nobody mistyped it.
  const bool mistyped = !unexpected.empty() && unexpected.front() != "--";
  const std::string word = mistyped ? unexpected.front() : "";
  fail_usage("{}; see `{} --help`", complaint(*command, word, error.what()), name);
}

}  // namespace

int run_command_line(int argc, const char* const* argv) {
  CLI::App app{"Softmax-free vision transformers with linear complexity"};
  add_commands(app);
  if (argc < 2) {
    std::cerr << app.help();
    return 2;
  }
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
