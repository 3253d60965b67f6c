// `soft bench train`: how long a training step takes, on the kernels and as plain tensor
// expressions.
#include <fmt/core.h>

#include <memory>

#include "base/parallel.h"
#include "cli/bench.h"
#include "cli/command.h"
#include "study/model_case.h"
#include "wing/wing.h"

namespace soft {
namespace {

struct BenchTrainOptions {
  ModelOptions model;
  std::vector<int> batches{8};
  bool compare = false;
  bool recompute = false;
  BenchOptions bench;
};

std::function<void()> training_step(const ModelCase& model, bool fused, bool recompute) {
  TorchStep step;
  step.spec = model.spec;
  step.size = model.size;
  step.batch = model.batch;
  step.threads = threads();
  step.fused = fused;
  step.recompute = recompute;
  return torch_wing().step(step);
}

// One row for each way at this batch, measured in turns.
std::vector<Json> rows_for(ModelCase model, const BenchTrainOptions& options) {
  std::vector<std::string> engines{"torch"};
  if (options.compare) engines.emplace_back("torch-plain");
  std::vector<Contestant> contestants;
  for (const std::string& engine : engines) {
    model.engine = engine;
    contestants.push_back(
        {model.name(), training_step(model, engine == "torch", options.recompute)});
  }
  const std::vector<Timing> timings = measure(contestants, options.bench);
  std::vector<Json> rows;
  for (size_t i = 0; i < engines.size(); ++i) {
    model.engine = engines[i];
    Json row = row_of(model, timings[i]);
    row["gflops"] = 3 * row.at("gflops").get<double>();  // two more passes go back
    row["speedup"] = timings.back().median() / timings[i].median();
    rows.push_back(row);
  }
  return rows;
}

void run(const BenchTrainOptions& options) {
  const ModelSpec spec = load_bench_model(options.model).card.spec;
  Json all = Json::array();
  for (const int batch : options.batches) {
    for (const Json& row :
         rows_for({spec, {spec.image_size, spec.image_size}, batch, ""}, options)) {
      all.push_back(row);
    }
  }
  report(all, options.bench);
}

}  // namespace

void add_bench_train(CLI::App& bench) {
  auto options = std::make_shared<BenchTrainOptions>();
  CLI::App* command =
      add_command(bench, {"train", "Commands", "Pictures per second of a training step",
                          "soft bench train --model soft-nano --batch 8 --compare --repeat 2"});
  add_model_flag(command, options->model);
  add_change_flags(command, options->model);
  add_batch_flag(command, options->batches);
  command->add_flag("--compare", options->compare,
                    "Also run the plain tensor expressions; speedup is over them");
  command->add_flag("--recompute", options->recompute,
                    "Layers keep their inputs alone, as with `soft train --set recompute=on`");
  add_bench_flags(command, options->bench);
  command->callback([options] { run(*options); });
}

}  // namespace soft
