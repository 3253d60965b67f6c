// `soft bench model`: how fast a model answers, engine beside engine.
#include <fmt/core.h>

#include <memory>
#include <optional>

#include "base/log.h"
#include "cli/bench.h"
#include "cli/command.h"
#include "cli/runner.h"
#include "cli/size.h"
#include "engine/engine.h"
#include "study/model_case.h"

namespace soft {
namespace {

struct BenchModelOptions {
  ModelOptions model;
  std::string engine;
  std::optional<Grid> size;
  std::vector<int> batches{1};
  bool compare = false;
  BenchOptions bench;
};

std::vector<Engine> engines_for(const BenchModelOptions& options, const ModelSpec& spec) {
  if (!options.compare) return {choose_engine(options.engine, spec)};
  const std::string obstacle = native_obstacle(spec);
  if (obstacle.empty()) return {Engine::kNative, Engine::kTorch, Engine::kTorchPlain};
  log("{}; comparing the others", obstacle);
  return {Engine::kTorch, Engine::kTorchPlain};
}

struct Opened {
  std::string engine;
  Runner runner;
};

std::vector<Opened> open_all(const LoadedModel& model, const std::vector<Engine>& engines) {
  std::vector<Opened> opened;
  opened.reserve(engines.size());
  for (Engine engine : engines) {
    opened.push_back({std::string(name_of(engine)), open_runner(model, engine)});
  }
  return opened;
}

// One row for each engine at this batch, measured in turns.
std::vector<Json> rows_for(const std::vector<Opened>& engines, ModelCase model,
                           const BenchOptions& options) {
  const std::vector<float> pixels = noise_for(model);
  std::vector<Contestant> contestants;
  for (const Opened& opened : engines) {
    model.engine = opened.engine;
    contestants.push_back(
        {model.name(), [&] { opened.runner.logits(pixels.data(), model.batch, model.size); }});
  }
  const std::vector<Timing> timings = measure(contestants, options);
  std::vector<Json> rows;
  for (size_t i = 0; i < engines.size(); ++i) {
    model.engine = engines[i].engine;
    rows.push_back(row_of(model, timings[i]));
  }
  return rows;
}

double rate_of(const Json& row) { return row.at("images_per_second"); }

// How many times faster each is than the last one, LibTorch's plain form.
void add_speedups(std::vector<Json>& rows) {
  for (Json& row : rows) row["speedup"] = rate_of(row) / rate_of(rows.back());
}

void print_ratios(const std::vector<Json>& rows) {
  for (size_t i = 1; i < rows.size(); ++i) {
    fmt::print("batch {}: {} is {:.2f} x {}\n", rows[0].at("batch").get<int>(),
               rows[0].at("engine").get<std::string>(), rate_of(rows[0]) / rate_of(rows[i]),
               rows[i].at("engine").get<std::string>());
  }
}

void run(const BenchModelOptions& options) {
  const LoadedModel model = load_bench_model(options.model);
  const ModelSpec& spec = model.card.spec;
  const Grid size = options.size.value_or(Grid{spec.image_size, spec.image_size});
  check_image(spec, size, Fault::kUsage);
  const auto engines = open_all(model, engines_for(options, spec));
  std::vector<std::vector<Json>> by_batch;
  Json all = Json::array();
  for (int batch : options.batches) {
    by_batch.push_back(rows_for(engines, {spec, size, batch, ""}, options.bench));
    if (options.compare) add_speedups(by_batch.back());
    for (const Json& row : by_batch.back()) all.push_back(row);
  }
  report(all, options.bench);
  if (!options.compare || options.bench.json) return;
  for (const auto& rows : by_batch) print_ratios(rows);
}

}  // namespace

void add_bench_model(CLI::App& bench) {
  auto options = std::make_shared<BenchModelOptions>();
  CLI::App* command =
      add_command(bench, {"model", "Commands", "Pictures per second of a model",
                          "soft bench model --model soft-nano --batch 1,8\n"
                          "soft bench model --model soft-tiny --compare --repeat 3"});
  add_bench_model_flags(command, options->model);
  add_batch_flag(command, options->batches);
  command
      ->add_option_function<std::string>(
          "--size", [options](const std::string& text) { options->size = parse_size(text); },
          "Pixels: N or HxW (default: the model's own)")
      ->type_name("SIZE");
  add_engine_flag(command, options->engine);
  command
      ->add_flag("--compare", options->compare,
                 "Run native, torch and torch-plain in turns; speedup is over torch-plain")
      ->excludes("--engine");
  add_bench_flags(command, options->bench);
  command->callback([options] { run(*options); });
}

}  // namespace soft
