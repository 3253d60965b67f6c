#include "cli/manual.h"

#include <fmt/format.h>

#include <functional>
#include <sstream>

#include "soft/version.h"

namespace soft {
namespace {

// What people are shown: a command or flag without a group is for machines.
std::vector<const CLI::App*> shown_commands(const CLI::App& app) {
  std::vector<const CLI::App*> commands;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (!command->get_group().empty()) commands.push_back(command);
  }
  return commands;
}

std::vector<const CLI::Option*> shown_options(const CLI::App& app) {
  std::vector<const CLI::Option*> options;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) options.push_back(option);
  }
  return options;
}

// Calls use(app, "soft bench model") for the program and all commands below it.
void each_command(const CLI::App& app, const std::string& name,
                  const std::function<void(const CLI::App&, const std::string&)>& use) {
  use(app, name);
  for (const CLI::App* command : shown_commands(app)) {
    each_command(*command, name + " " + command->get_name(), use);
  }
}

std::string joined(std::string name, char between) {
  for (char& c : name) c = c == ' ' ? between : c;
  return name;
}

// Text as troff takes it: a dash stays one, and no line becomes a request.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool starts = result.empty() || result.back() == '\n';
    if (starts && (c == '.' || c == '\'')) result += "\\&";
    result += c == '-' ? "\\-" : c == '\\' ? "\\e" : std::string(1, c);
  }
  return result;
}

std::string names_of(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : option.get_snames()) names += fmt::format(", \\fB\\-{}\\fR", name);
  for (const std::string& name : option.get_lnames()) {
    names += fmt::format(", \\fB\\-\\-{}\\fR", escaped(name));
  }
  return names.substr(2);
}

std::string value_of(const CLI::Option& option) {
  const std::string text = option.get_option_text();
  return text.empty() ? option.get_type_name() : text;
}

std::string entry_for(const CLI::Option& option) {
  const std::string value = option.get_items_expected() == 0 ? "" : value_of(option);
  const std::string names =
      option.nonpositional() ? names_of(option) : "\\fI" + escaped(value) + "\\fR";
  const std::string behind =
      option.nonpositional() && !value.empty() ? " \\fI" + escaped(value) + "\\fR" : "";
  return fmt::format(".TP\n{}{}\n{}\n", names, behind, escaped(option.get_description()));
}

std::string options_section(const CLI::App& app) {
  std::string text, group;
  for (const CLI::Option* option : shown_options(app)) {
    const std::string own = option->nonpositional() ? option->get_group() : "Arguments";
    if (own != group) text += fmt::format(".SH {}\n", escaped(own));
    group = own;
    text += entry_for(*option);
  }
  return text;
}

std::string commands_section(const CLI::App& app, const std::string& page) {
  std::string text;
  for (const CLI::App* command : shown_commands(app)) {
    text += fmt::format(".TP\n\\fB{}\\-{}\\fR(1)\n{}\n", escaped(page),
                        escaped(command->get_name()), escaped(command->get_description()));
  }
  return text.empty() ? "" : ".SH COMMANDS\n" + text;
}

std::string examples_section(const CLI::App& app) {
  std::istringstream lines(app.get_footer());
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("  ", 0) == 0) text += escaped(line.substr(2)) + "\n";
  }
  return text.empty() ? "" : ".SH EXAMPLES\n.nf\n" + text + ".fi\n";
}

std::string page_text(const CLI::App& app, const std::string& name) {
  const std::string page = joined(name, '-');
  std::string synopsis = "[\\fIoptions\\fR]";
  for (const CLI::Option* option : shown_options(app)) {
    if (!option->nonpositional()) synopsis += " \\fI" + escaped(value_of(*option)) + "\\fR";
  }
  if (!shown_commands(app).empty()) synopsis += " \\fIcommand\\fR";
  std::string upper = page;
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  return fmt::format(".TH {} 1 \"\" \"soft {}\" \"User Commands\"\n", upper, SOFT_VERSION) +
         fmt::format(".SH NAME\n{} \\- {}\n", escaped(page), escaped(app.get_description())) +
         fmt::format(".SH SYNOPSIS\n\\fB{}\\fR {}\n", escaped(name), synopsis) +
         commands_section(app, page) + options_section(app) + examples_section(app);
}

std::string words_of(const CLI::App& app) {
  std::string words;
  for (const CLI::App* command : shown_commands(app)) words += command->get_name() + " ";
  return words;
}

std::string flags_of(const CLI::App& app) {
  std::string flags;
  for (const CLI::Option* option : shown_options(app)) {
    for (const std::string& name : option->get_lnames()) flags += "--" + name + " ";
  }
  return flags;
}

}  // namespace

std::vector<ManualPage> manual_pages(const CLI::App& app) {
  std::vector<ManualPage> pages;
  each_command(app, app.get_name(), [&](const CLI::App& command, const std::string& name) {
    pages.push_back({joined(name, '-'), page_text(command, name)});
  });
  return pages;
}

std::string bash_completion(const CLI::App& app) {
  std::string known, cases;
  each_command(app, app.get_name(), [&](const CLI::App& command, const std::string& name) {
    known += fmt::format("{}'{}'", known.empty() ? "" : "|", name);
    cases += fmt::format("    '{}') commands='{}' flags='{}' ;;\n", name, words_of(command),
                         flags_of(command));
  });
  return "# Completion for bash, made by `soft generate completion`. Values are file names.\n"
         "_soft() {\n"
         "  local at=soft word commands flags current=${COMP_WORDS[COMP_CWORD]}\n"
         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
         "    case \"$at $word\" in " +
         known +
         ") at=\"$at $word\" ;; esac\n"
         "  done\n"
         "  case $at in\n" +
         cases +
         "  esac\n"
         "  [[ $current == -* ]] && commands=$flags\n"
         "  COMPREPLY=($(compgen -W \"$commands\" -- \"$current\"))\n"
         "}\n"
         "complete -o default -F _soft soft\n";
}

}  // namespace soft
