// `soft lra`: the Long Range Arena.
#include "cli/lra.h"

#include <memory>

#include "base/error.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "data/listops.h"

namespace soft {
namespace {

struct LraGenerateOptions {
  std::string task;
  ListOpsFiles files;
};

void generate_lra(const LraGenerateOptions& options) {
  if (options.task != "listops") {
    fail_usage("'{}' cannot be generated; listops can. `soft data list` says where the others are",
               options.task);
  }
  write_listops(options.files);
  log("{} + {} + {} expressions in {}", options.files.train, options.files.dev, options.files.test,
      options.files.folder);
}

void add_lra_generate(CLI::App& lra) {
  auto options = std::make_shared<LraGenerateOptions>();
  CLI::App* command =
      add_command(lra, {"generate", "Commands", "Make the files of a task",
                        "soft lra generate listops --train 500 --out data/listops"});
  command->add_option("task", options->task, "listops")->required();
  command->add_option("--out", options->files.folder, "Folder for basic_{train,val,test}.tsv")
      ->type_name("DIR")
      ->required();
  command->add_option("--seed", options->files.seed, "Other expressions (default: 0)")
      ->check(whole_number())
      ->type_name("N");
  command->add_option("--train", options->files.train, "Training expressions (default: 96000)")
      ->type_name("N");
  command->add_option("--val", options->files.dev, "For development (default: 2000)")
      ->type_name("N");
  command->add_option("--test", options->files.test, "For the test (default: 2000)")
      ->type_name("N");
  command->callback([options] { generate_lra(*options); });
}

}  // namespace

void add_lra(CLI::App& app) {
  CLI::App* command =
      add_command(app, {"lra", "Measure", "The Long Range Arena",
                        "soft lra generate listops --train 500 --out data/listops"});
  command->require_subcommand(1);
  add_lra_generate(*command);
  add_lra_train(*command);
  add_lra_eval(*command);
  add_lra_table(*command);
}

}  // namespace soft
