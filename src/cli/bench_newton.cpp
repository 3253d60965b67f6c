// `soft bench newton`: the paper's Figure 4. How far Newton's steps have come after each of them,
// in every stage: by the paper's residual, and by the distance to the pseudo-inverse itself.
#include <fmt/core.h>

#include <memory>

#include "base/error.h"
#include "base/parallel.h"
#include "cli/bench.h"
#include "cli/command.h"
#include "data/loader.h"
#include "facade/boxed.h"
#include "facade/input.h"
#include "wing/wing.h"

namespace soft {
namespace {

struct BenchNewtonOptions {
  ModelOptions model;
  std::string data = "shapes";
  int64_t images = 8;
  int steps = 20;
  BenchOptions bench;
};

// Modes that iterate; `exact` has no steps.
constexpr Inverse kModes[] = {Inverse::kNewton, Inverse::kNewtonAdaptive, Inverse::kNewtonPaper};

Batch pictures_for(const BenchNewtonOptions& options, const Card& card) {
  DataRequest request;
  request.spec = options.data;
  request.split = Split::kValidation;
  request.limit = options.images;
  request.size = card.spec.image_size;
  LoaderOptions loading;
  loading.batch = options.images;
  loading.preprocessing = preprocessing_of(card);
  Loader loader(open_dataset(request), loading);
  loader.start(0);
  return *loader.next();
}

LoadedModel model_of(ModelOptions options) {
  if (options.weights.empty() && options.model.empty()) options.weights = boxed_weights();
  LoadedModel model = load_model(options);
  const Mechanism attention = model.card.spec.attention;
  if (attention != Mechanism::kSoft && attention != Mechanism::kSoftNorm) {
    fail_usage("'{}' attention has no inverse; soft and soft-norm have one", name_of(attention));
  }
  return model;
}

TorchTrace request_for(const LoadedModel& model, const Batch& batch,
                       const BenchNewtonOptions& options) {
  TorchTrace request;
  request.model = {model.weights, model.card.spec, threads(), false};
  request.pixels = batch.pixels;
  request.count = batch.count;
  request.size = {batch.size, batch.size};
  request.steps = options.steps;
  return request;
}

void add_rows(Json& rows, Inverse mode, const StageTrace& trace) {
  for (size_t step = 0; step < trace.residual.size(); ++step) {
    rows.push_back({{"inverse", name_of(mode)},
                    {"stage", trace.stage},
                    {"matrices", trace.matrices},
                    {"step", step},
                    {"residual", trace.residual[step]},
                    {"worst_residual", trace.worst[step]},
                    {"distance", trace.distance[step]}});
  }
}

Drawing chart_of(const Json& rows, const std::string& model) {
  LineChart chart;
  chart.title = fmt::format("Newton's steps towards the inverse, {}", model);
  chart.x = {"step", false, 0, {}};
  chart.y = {"|A V A - A| / |A|", true, {}, {}};
  for (const Json& row : rows) {
    const auto name = fmt::format("{}, stage {}", row.at("inverse").get<std::string>(),
                                  row.at("stage").get<int>());
    if (chart.series.empty() || chart.series.back().name != name) {
      chart.series.push_back({name, {}, row.at("inverse") != "newton"});
    }
    chart.series.back().points.push_back(
        {row.at("step").get<double>(), row.at("residual").get<double>()});
  }
  chart.dots = false;
  return draw(chart);
}

void run(const BenchNewtonOptions& options) {
  const LoadedModel model = model_of(options.model);
  TorchTrace request = request_for(model, pictures_for(options, model.card), options);
  Json rows = Json::array();
  for (const Inverse mode : kModes) {
    request.mode = mode;
    for (const StageTrace& trace : torch_wing().trace(request)) add_rows(rows, mode, trace);
  }
  report(rows, options.bench);
  plot(chart_of(rows, model.card.spec.name), options.bench);
}

}  // namespace

void add_bench_newton(CLI::App& bench) {
  auto options = std::make_shared<BenchNewtonOptions>();
  CLI::App* command = add_command(
      bench, {"newton", "Commands", "Convergence of the inverse, step by step (Figure 4)",
              "soft bench newton --plot newton.svg\n"
              "soft bench newton --model soft-tiny --images 2"});
  add_model_flag(command, options->model);
  command
      ->add_option("--weights", options->model.weights,
                   "A .safetensors or .pth file (default: random weights of --model, or the box)")
      ->type_name("FILE");
  add_change_flags(command, options->model);
  add_weights_key_flag(command, options->model);
  command->add_option("--data", options->data,
                      "Pictures: cifar10, folder:DIR, … (default: shapes)");
  command->add_option("--images", options->images, "How many of them (default: 8)")
      ->check(CLI::Range(1, 1024).description(""))
      ->type_name("N");
  command->add_option("--steps", options->steps, "Newton steps (default: 20)")
      ->check(CLI::Range(0, 200).description(""))
      ->type_name("N");
  add_output_flags(command, options->bench);
  add_plot_flag(command, options->bench);
  command->callback([options] { run(*options); });
}

}  // namespace soft
