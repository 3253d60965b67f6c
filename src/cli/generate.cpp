#include <fmt/core.h>

#include <memory>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/manual.h"

namespace soft {
namespace {

void write_pages(const CLI::App& app, const std::string& folder) {
  make_folder(folder);
  std::vector<FileWriter> files;
  for (const ManualPage& page : manual_pages(app)) {
    files.push_back(
        {folder + "/" + page.name + ".1", [text = page.text](std::ostream& out) { out << text; }});
  }
  write_atomically(files);
}

}  // namespace

// For whoever packages the program; not listed in its help.
void add_generate(CLI::App& app) {
  CLI::App* command = add_command(app, {"generate", "", "Write manual pages or shell completion",
                                        "soft generate man pages/\nsoft generate completion"});
  command->require_subcommand(1);
  auto folder = std::make_shared<std::string>();
  CLI::App* man = add_command(*command, {"man", "Commands", "Write a manual page for each command",
                                         "soft generate man pages/"});
  man->add_option("folder", *folder, "Where the pages go")->required()->type_name("DIR");
  man->callback([&app, folder] { write_pages(app, *folder); });
  CLI::App* completion =
      add_command(*command, {"completion", "Commands", "Print a completion script for bash",
                             "soft generate completion > soft.bash"});
  completion->callback([&app] { fmt::print("{}", bash_completion(app)); });
}

}  // namespace soft
