#include "cli/runner.h"

#include "base/error.h"
#include "base/parallel.h"
#include "cli/boxed.h"
#include "wing/wing.h"

namespace soft {
namespace {

const std::vector<std::string_view> kEngines{"torch"};

}  // namespace

void add_engine_flag(CLI::App* command, std::string& engine) {
  command->add_option("--engine", engine, "torch (the only one in this version)")
      ->type_name("NAME");
}

Runner open_runner(ModelOptions options, const std::string& engine) {
  parse_name("engine", engine, kEngines);
  if (options.weights.empty()) options.weights = boxed_weights();
  const ChosenModel chosen = choose_model(options);
  Runner runner;
  runner.card = chosen.card;
  runner.card.spec = with_changes(chosen.card.spec, options);
  check_fit(*chosen.weights, runner.card.spec);
  TorchModel model;
  model.weights = options.weights;
  model.weights_key = options.weights_key;
  model.spec = runner.card.spec;
  model.threads = threads();
  runner.logits = torch_wing().open(model);
  return runner;
}

}  // namespace soft
