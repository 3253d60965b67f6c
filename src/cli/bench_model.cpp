// `soft bench model`: how fast a model answers, engine beside engine.
#include <fmt/core.h>

#include <memory>
#include <optional>

#include "base/error.h"
#include "base/log.h"
#include "cli/bench.h"
#include "cli/command.h"
#include "cli/size.h"
#include "engine/engine.h"
#include "facade/runner.h"
#include "study/model_case.h"
#include "study/profile_rows.h"
#include "weights/int8.h"

namespace soft {
namespace {

struct BenchModelOptions {
  ModelOptions model;
  std::string engine;
  std::optional<Grid> size;
  std::vector<int> batches{1};
  bool compare = false;
  bool profile = false;
  std::string beside;  // other weights
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
  std::string weights;  // int8, or float32
  Runner runner;
};

std::vector<Opened> open_all(const std::vector<LoadedModel>& models,
                             const std::vector<Engine>& engines) {
  std::vector<Opened> opened;
  for (const LoadedModel& model : models) {
    for (Engine engine : engines) {
      opened.push_back({std::string(name_of(engine)), has_int8(model.weights) ? "int8" : "float32",
                        Runner(model, engine)});
    }
  }
  return opened;
}

// The model, and the other weights that --beside names.
std::vector<LoadedModel> load_all(const BenchModelOptions& options) {
  std::vector<LoadedModel> models{load_bench_model(options.model)};
  if (options.beside.empty()) return models;
  ModelOptions other = options.model;
  other.weights = options.beside;
  other.model.clear();
  models.push_back(load_bench_model(other));
  if (models[0].card.spec.classes != models[1].card.spec.classes ||
      models[0].card.spec.stages.size() != models[1].card.spec.stages.size()) {
    fail_usage("--beside: '{}' holds {}, not {}", options.beside, models[1].card.spec.name,
               models[0].card.spec.name);
  }
  return models;
}

// One row for each engine at this batch, measured in turns.
std::vector<Json> rows_for(const std::vector<Opened>& engines, ModelCase model,
                           const BenchOptions& options) {
  const std::vector<float> pixels = noise_for(model);
  std::vector<Contestant> contestants;
  for (const Opened& opened : engines) {
    model.engine = opened.engine;
    contestants.push_back({model.name() + " " + opened.weights, [&] {
                             opened.runner.logits({pixels.data(), model.batch, model.size});
                           }});
  }
  const std::vector<Timing> timings = measure(contestants, options);
  std::vector<Json> rows;
  for (size_t i = 0; i < engines.size(); ++i) {
    model.engine = engines[i].engine;
    rows.push_back(row_of(model, timings[i]));
    rows.back()["weights"] = engines[i].weights;
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
    const auto text = [&](size_t row, const char* key) {
      return rows[row].at(key).get<std::string>();
    };
    fmt::print("batch {}: {} {} is {:.2f} x {} {}\n", rows[0].at("batch").get<int>(),
               text(0, "engine"), text(0, "weights"), rate_of(rows[0]) / rate_of(rows[i]),
               text(i, "engine"), text(i, "weights"));
  }
}

// Where the native engine's time goes.
void run_profile(const BenchModelOptions& options, const LoadedModel& model, Grid size) {
  const ModelSpec& spec = model.card.spec;
  if (choose_engine("native", spec) != Engine::kNative) return;
  const Packed packed(model.weights, spec);
  Json all = Json::array();
  for (int batch : options.batches) {
    for (Json& row : profile_rows(packed, size, batch, options.bench.repeat)) all.push_back(row);
  }
  report(all, options.bench);
}

void run(const BenchModelOptions& options) {
  const std::vector<LoadedModel> models = load_all(options);
  const ModelSpec& spec = models.front().card.spec;
  const Grid size = options.size.value_or(Grid{spec.image_size, spec.image_size});
  check_image(spec, size, Fault::kUsage);
  if (options.profile) return run_profile(options, models.front(), size);
  const auto engines = open_all(models, engines_for(options, spec));
  std::vector<std::vector<Json>> by_batch;
  Json all = Json::array();
  for (int batch : options.batches) {
    by_batch.push_back(rows_for(engines, {spec, size, batch, ""}, options.bench));
    if (options.compare) add_speedups(by_batch.back());
    for (const Json& row : by_batch.back()) all.push_back(row);
  }
  report(all, options.bench);
  if (engines.size() == 1 || options.bench.json) return;
  for (const auto& rows : by_batch) print_ratios(rows);
}

}  // namespace

void add_bench_model(CLI::App& bench) {
  auto options = std::make_shared<BenchModelOptions>();
  CLI::App* command =
      add_command(bench, {"model", "Commands", "Pictures per second of a model",
                          "soft bench model --model soft-nano --batch 1,8\n"
                          "soft bench model --model soft-tiny --compare --repeat 3\n"
                          "soft bench model --model soft-nano --profile"});
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
  command
      ->add_option("--beside", options->beside,
                   "Other weights of the same model (int8 beside float32), in turns")
      ->type_name("FILE");
  command
      ->add_flag("--profile", options->profile,
                 "Where the native engine's time goes: each stage and phase")
      ->excludes("--compare")
      ->excludes("--beside");
  add_bench_flags(command, options->bench);
  command->callback([options] { run(*options); });
}

}  // namespace soft
