// `soft bench scale`: how fast ranks exchange gradients here, and what that means for many
// machines. Without ranks in the environment it starts some on this machine.
#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/log.h"
#include "base/parallel.h"
#include "cli/bench.h"
#include "cli/command.h"
#include "describe/cost.h"
#include "rank/launch.h"
#include "rank/place.h"
#include "study/scale.h"
#include "wing/wing.h"

namespace soft {
namespace {

struct ScaleOptions {
  ModelOptions model;
  int ranks = 2;
  int64_t batch = 0;  // of a measured step on each rank; 0: none is measured
  std::vector<int> nodes{8, 16, 32, 64, 128, 256};
  std::vector<std::string> models{"soft-tiny", "soft-small", "soft-medium", "soft-large",
                                  "soft-huge"};
  int64_t global_batch = 1024;
  int cores = 32;
  double speed = 0;     // GMAC/s of one core in training; 0: measured
  double gigabits = 0;  // of the network; 0: as measured
  double latency = -1;  // microseconds; below 0: as measured
  double timeout = 60;
  std::string wire = "fp32";
  BenchOptions bench;

  bool half() const { return wire == "fp16"; }
};

constexpr double kPictures = 1'281'167;
constexpr int kEpochs = 300;

std::vector<int64_t> sizes() { return {4096, 65'536, 1 << 20, 4 << 20, 25 << 20}; }

// A model on machines that do one multiply-accumulate a second: a step takes three times those of a
// forward pass. A bucket holds as many gradients as float16 as it does as float32.
ScaleCase case_of(const ScaleOptions& options, const ModelSpec& spec) {
  const ModelCost cost = cost_of(spec, {spec.image_size, spec.image_size});
  ScaleCase scale;
  scale.gradient_bytes = 4.0 * static_cast<double>(cost.params);
  scale.batch = options.global_batch;
  scale.images_per_second = 1 / (3.0 * static_cast<double>(cost.macs_with_inverse));
  if (!options.half()) return scale;
  scale.gradient_bytes /= 2;
  scale.bucket_bytes /= 2;
  return scale;
}

TorchStep step_of(const ModelSpec& spec, int64_t batch) {
  TorchStep step;
  step.spec = spec;
  step.size = {spec.image_size, spec.image_size};
  step.batch = batch;
  step.threads = threads();
  return step;
}

Json sum_rows(const TorchExchange& request, const ExchangeResult& result,
              const Interconnect& network) {
  Json rows = Json::array();
  for (size_t i = 0; i < request.bytes.size(); ++i) {
    const auto bytes = static_cast<double>(request.bytes[i]);
    rows.push_back({{"ranks", request.place.world},
                    {"bytes", request.bytes[i]},
                    {"ms", 1e3 * result.seconds[i]},
                    {"model_ms", 1e3 * ring_seconds(network, bytes, request.place.world)},
                    {"MB/s", 1e-6 * bytes / result.seconds[i]}});
  }
  return rows;
}

// What was measured of a shared step, and what the model makes of the step alone and the sums.
Json step_row(const ScaleOptions& options, const TorchExchange& request,
              const ExchangeResult& result, const Interconnect& network) {
  const int world = request.place.world;
  ScaleCase scale = case_of(options, request.step->spec);
  scale.batch = world * options.batch;
  scale.nodes = world;
  scale.images_per_second = static_cast<double>(options.batch) / result.step_alone;
  const ScaleCost model = cost_of_step(scale, network);
  const double hidden = result.exchange > 0 ? 1 - result.waited / result.exchange : 0;
  return {{"model", request.step->spec.name},
          {"batch", options.batch},
          {"threads", threads()},
          {"wire", options.wire},
          {"alone_ms", 1e3 * result.step_alone},
          {"exchange_ms", 1e3 * result.exchange},
          {"model_ms", 1e3 * model.exchange},
          {"step_ms", 1e3 * result.step_shared},
          {"model_step_ms", 1e3 * model.step},
          {"waited_ms", 1e3 * result.waited},
          {"hidden_percent", 100 * std::max(0.0, hidden)},
          {"images_per_second", static_cast<double>(scale.batch) / result.step_shared}};
}

// One of the ranks: all measure, the first one prints.
void run_as_rank(const ScaleOptions& options, const RankPlace& place) {
  TorchExchange request;
  request.place = place;
  request.timeout = options.timeout;
  request.bytes = sizes();
  request.half = options.half();
  if (options.bench.repeat > 0) request.repeat = options.bench.repeat;
  if (options.batch > 0) {
    request.step = step_of(load_bench_model(options.model).card.spec, options.batch);
  }
  const ExchangeResult result = torch_wing().exchange(request);
  if (!place.first()) return;
  const Interconnect network = network_of(request.bytes, result.seconds, std::max(2, place.world));
  Json rows = sum_rows(request, result, network);
  if (request.step) rows.push_back(step_row(options, request, result, network));
  report(rows, options.bench);
}

std::vector<std::string> words_of_rank(const ScaleOptions& options) {
  const std::string& model = options.model.model;
  std::vector<std::string> words{"bench",
                                 "scale",
                                 "--json",
                                 "--wire",
                                 options.wire,
                                 "--model",
                                 model.empty() ? options.models.front() : model};
  if (options.batch > 0) words.insert(words.end(), {"--batch", std::to_string(options.batch)});
  if (options.bench.repeat > 0) {
    words.insert(words.end(), {"--repeat", std::to_string(options.bench.repeat)});
  }
  return words;
}

// Ranks on this machine, through `soft launch`; their rows.
Json measured_here(const ScaleOptions& options) {
  LaunchRequest request;
  request.ranks = options.ranks;
  request.restarts = 0;
  request.program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::vector<std::string> words = words_of_rank(options);
  request.arguments = [words](int) { return words; };
  Json rows;
  LaunchEvents events;
  events.line = [&](int, bool error, const std::string& line) {
    if (error) return log_line(line);
    rows = Json::parse(line, nullptr, false);
  };
  const LaunchOutcome outcome = launch(request, events);
  if (outcome.code != 0) fail("{}", outcome.why);
  if (!rows.is_array()) fail("the ranks measured nothing");
  return rows;
}

Interconnect network_from(const Json& rows, const ScaleOptions& options) {
  std::vector<int64_t> bytes;
  std::vector<double> seconds;
  for (const Json& row : rows) {
    if (!row.contains("bytes")) continue;
    bytes.push_back(row.at("bytes").get<int64_t>());
    seconds.push_back(1e-3 * row.at("ms").get<double>());
  }
  Interconnect network = network_of(bytes, seconds, std::max(2, options.ranks));
  if (options.gigabits > 0) network.bandwidth = options.gigabits * 1e9 / 8;
  if (options.latency >= 0) network.latency = 1e-6 * options.latency;
  return network;
}

// Multiply-accumulates of a training step that one thread does in a second.
double speed_of_a_core(const ScaleOptions& options) {
  if (options.speed > 0) return 1e9 * options.speed;
  const ModelSpec spec = find_model("soft-tiny");
  TorchStep step = step_of(spec, 2);
  step.threads = 1;
  const auto timings = measure({{"one training step", torch_wing().step(step)}}, options.bench);
  const double macs = 3.0 * 2 * static_cast<double>(cost_of(spec, step.size).macs_with_inverse);
  return macs / timings[0].median();
}

Json predicted(const ScaleOptions& options, const Interconnect& network, double core) {
  Json rows = Json::array(), limits = Json::array();
  for (const std::string& name : options.models) {
    ScaleCase scale = case_of(options, find_model(name));
    scale.images_per_second *= core * options.cores;
    for (const int nodes : options.nodes) {
      scale.nodes = nodes;
      const ScaleCost step = cost_of_step(scale, network);
      rows.push_back({{"model", name},
                      {"nodes", nodes},
                      {"compute_ms", 1e3 * step.compute},
                      {"exchange_ms", 1e3 * step.exchange},
                      {"step_ms", 1e3 * step.step},
                      {"efficiency", step.efficiency},
                      {"days", step.days(kPictures, kEpochs, scale.batch)}});
    }
    limits.push_back({{"model", name},
                      {"nodes_at_80_percent", most_nodes(scale, network, 0.8)},
                      {"nodes_at_50_percent", most_nodes(scale, network, 0.5)}});
  }
  for (const Json& row : limits) rows.push_back(row);
  return rows;
}

void run(const ScaleOptions& options) {
  const RankPlace place = place_of_process();
  if (place.grouped) return run_as_rank(options, place);
  Json rows = measured_here(options);  // before this process has threads
  const Interconnect network = network_from(rows, options);
  const double core = speed_of_a_core(options);
  rows.push_back({{"bandwidth_MB/s", 1e-6 * network.bandwidth},
                  {"latency_us", 1e6 * network.latency},
                  {"core_GMAC/s", 1e-9 * core},
                  {"cores", options.cores},
                  {"batch", options.global_batch}});
  for (const Json& row : predicted(options, network, core)) rows.push_back(row);
  report(rows, options.bench);
}

}  // namespace

void add_bench_scale(CLI::App& bench) {
  auto options = std::make_shared<ScaleOptions>();
  CLI::App* command = add_command(
      bench, {"scale", "Commands", "Exchange between ranks, and what many machines would take",
              "soft bench scale --ranks 2 --repeat 3 --models soft-tiny --nodes 8,64"});
  command->add_option("--ranks", options->ranks, "Processes to start here")
      ->check(CLI::Range(2, 64).description(""))
      ->type_name("N");
  add_model_flag(command, options->model);
  command
      ->add_option("--batch", options->batch,
                   "Also measure a training step of --model on each rank")
      ->check(CLI::Range(1, 4096).description(""))
      ->type_name("B");
  command->add_option("--wire", options->wire, "How gradients travel: fp32, or fp16")
      ->check(CLI::IsMember({"fp32", "fp16"}).description(""))
      ->type_name("W");
  command->add_option("--models", options->models, "Models to reckon with")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->each([](const std::string& name) { find_model(name); })
      ->type_name("M[,M...]");
  command->add_option("--nodes", options->nodes, "Numbers of machines to reckon with")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 1'000'000).description(""))
      ->type_name("N[,N...]");
  command->add_option("--global-batch", options->global_batch, "Pictures of a step on all of them")
      ->check(CLI::Range(1, 1'000'000).description(""))
      ->type_name("B");
  command->add_option("--cores", options->cores, "Cores of a machine")
      ->check(CLI::Range(1, 4096).description(""))
      ->type_name("N");
  command->add_option("--gmacs", options->speed, "GMAC/s of a core in training (default: measured)")
      ->check(finite_number())
      ->type_name("X");
  command->add_option("--gigabits", options->gigabits, "Gbit/s of the network (default: measured)")
      ->check(finite_number())
      ->type_name("X");
  command->add_option("--latency", options->latency, "Microseconds of a turn (default: measured)")
      ->check(finite_number())
      ->type_name("X");
  command->add_option("--group-timeout", options->timeout, "Seconds to wait for the other ranks")
      ->check(finite_number())
      ->type_name("X");
  add_bench_flags(command, options->bench);
  command->callback([options] { run(*options); });
}

}  // namespace soft
