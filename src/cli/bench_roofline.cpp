// `soft bench roofline`: what the machine's arithmetic and memory allow, and the share of it that a
// model reaches. All are measured in turns.
#include <algorithm>
#include <deque>
#include <memory>

#include "base/error.h"
#include "cli/bench.h"
#include "cli/command.h"
#include "engine/engine.h"
#include "engine/roofline.h"
#include "facade/runner.h"
#include "study/bandwidth.h"
#include "study/model_case.h"

namespace soft {
namespace {

struct BenchRooflineOptions {
  ModelOptions model;
  std::vector<int> batches{1, 8};
  BenchOptions bench;
};

// The best of every product so far.
struct Roofline {
  std::vector<RooflinePoint> points;

  void measure_again() {
    constexpr double kSecondsEach = 0.05;
    const auto fresh = measure_roofline(kSecondsEach);
    if (points.empty()) points = fresh;
    for (size_t i = 0; i < points.size(); ++i) {
      points[i].gflops = std::max(points[i].gflops, fresh[i].gflops);
    }
  }
};

// The model at one batch size, with its input.
struct RooflineCase {
  ModelCase model;
  std::vector<float> pixels;
};

std::deque<RooflineCase> cases_of(const BenchRooflineOptions& options, const ModelSpec& spec) {
  std::deque<RooflineCase> cases;
  for (int batch : options.batches) {
    ModelCase model{spec, {spec.image_size, spec.image_size}, batch, "native"};
    cases.push_back({model, noise_for(model)});
  }
  return cases;
}

Json machine_rows(const Roofline& roofline, const Timing& triad) {
  Json rows = Json::array();
  for (const RooflinePoint& point : roofline.points) {
    rows.push_back({{"what", "matmul " + point.shape}, {"gflops", point.gflops}});
  }
  rows.push_back(
      {{"what", "memory triad"}, {"gigabytes_per_second", Triad::gigabytes() / triad.best()}});
  return rows;
}

// The peak is a best, so the best run is set beside it, too.
Json model_row(const ModelCase& model, const Timing& timing, double peak) {
  Json row{{"what", "model"}};
  row.update(row_of(model, timing));
  const double share = row.at("gflops").get<double>() / peak;
  row["roofline_share"] = share;
  row["roofline_share_best"] = share * timing.median() / timing.best();
  return row;
}

LoadedModel native_model(const ModelOptions& options) {
  LoadedModel model = load_bench_model(options);
  const std::string obstacle = native_obstacle(model.card.spec);
  if (!obstacle.empty()) {
    fail("{}; measure another model here, or this one with `soft bench model`", obstacle);
  }
  return model;
}

void run(const BenchRooflineOptions& options) {
  const LoadedModel loaded = native_model(options.model);
  const Runner runner(loaded, Engine::kNative);
  const std::deque<RooflineCase> cases = cases_of(options, loaded.card.spec);
  Roofline roofline;
  Triad triad;
  std::vector<Contestant> contestants{{"matmul", [&] { roofline.measure_again(); }},
                                      {"triad", [&] { triad.run(); }}};
  const size_t first = contestants.size();
  for (const RooflineCase& one : cases) {
    contestants.push_back({one.model.name(), [&runner, &one] {
                             runner.logits({one.pixels.data(), one.model.batch, one.model.size});
                           }});
  }
  const std::vector<Timing> timings = measure(contestants, options.bench);
  Json rows = machine_rows(roofline, timings[1]);
  for (size_t i = 0; i < cases.size(); ++i) {
    rows.push_back(model_row(cases[i].model, timings[first + i], roofline_gflops(roofline.points)));
  }
  report(rows, options.bench);
}

}  // namespace

void add_bench_roofline(CLI::App& bench) {
  auto options = std::make_shared<BenchRooflineOptions>();
  CLI::App* command = add_command(
      bench, {"roofline", "Commands", "What the machine allows, and the share a model reaches",
              "soft bench roofline --repeat 5\n"
              "soft bench roofline --model soft-nano --batch 1 --repeat 3 --json"});
  add_bench_model_flags(command, options->model);
  add_batch_flag(command, options->batches);
  add_bench_flags(command, options->bench);
  command->callback([options] { run(*options); });
}

}  // namespace soft
