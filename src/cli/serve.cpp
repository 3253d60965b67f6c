#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/parallel.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/serve_flags.h"
#include "facade/boxed.h"
#include "facade/runner.h"
#include "facade/sequence_runner.h"

namespace soft {
namespace {

constexpr const char* kPrefix = "SOFT_SERVE_";

// What one worker may take beside the weights.
constexpr size_t kWorkerMemory = size_t{1} << 30;

// The box that is named, or all that are there; changes are meant for one.
std::vector<BoxedModel> chosen_boxes(const ModelOptions& asked) {
  boxed_weights(asked.box);  // an Error when it is not there
  const bool changed = !asked.model.empty() || !asked.weights_key.empty() ||
                       !asked.attention.empty() || !asked.settings.empty();
  if (asked.box.empty() && !changed) return present_boxed_models();
  const std::string only = asked.box.empty() ? boxed_models().front().name : asked.box;
  std::vector<BoxedModel> chosen;
  for (const BoxedModel& box : boxed_models()) {
    if (box.name == only) chosen.push_back(box);
  }
  return chosen;
}

ServedModels open_models(const ServeFlags& options) {
  if (is_sequence_model(options.model)) {
    return {ServedModel(open_sequence_runner(options.model, options.engine))};
  }
  WorkspaceOptions workspaces;
  workspaces.largest_bytes = kWorkerMemory;
  ModelOptions asked = options.model;
  if (!asked.weights.empty()) {
    return {ServedModel(open_runner(asked, options.engine, workspaces))};
  }
  ServedModels models;
  for (const BoxedModel& box : chosen_boxes(options.model)) {
    asked.box = box.name;
    models.emplace_back(open_runner(asked, options.engine, workspaces), box.name, box.about);
  }
  return models;
}

std::chrono::milliseconds duration_of(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(1000 * seconds));
}

Endpoints endpoints_of(const ServeFlags& options) {
  if (options.endpoints.empty()) return {};
  Endpoints chosen{false, false, false, false, false, false};
  const std::pair<std::string_view, bool*> known[] = {
      {"classify", &chosen.classify}, {"embed", &chosen.embed},     {"attend", &chosen.attend},
      {"model", &chosen.model},       {"metrics", &chosen.metrics}, {"page", &chosen.page}};
  for (const std::string& name : options.endpoints) {
    const auto* found = std::find_if(std::begin(known), std::end(known),
                                     [&](const auto& entry) { return entry.first == name; });
    if (found == std::end(known)) {
      fail_usage(
          "--endpoints '{}' does not exist; there are: classify, embed, attend, model, metrics, "
          "page",
          name);
    }
    *found->second = true;
  }
  return chosen;
}

Limits limits_of(const ServeFlags& options) {
  Limits limits;
  limits.header_bytes = static_cast<size_t>(options.max_header_kb) << 10;
  limits.body_bytes = static_cast<uint64_t>(options.max_body_mb) << 20;
  limits.all_bodies_bytes = static_cast<uint64_t>(options.max_bodies_mb) << 20;
  limits.connections = static_cast<size_t>(options.max_connections);
  limits.header_time = duration_of(options.header_seconds);
  limits.body_time = duration_of(options.body_seconds);
  limits.answer_time = duration_of(options.answer_seconds);
  limits.write_time = duration_of(options.write_seconds);
  limits.idle_time = duration_of(options.idle_seconds);
  limits.drain_time = duration_of(options.drain_seconds);
  return limits;
}

ApiOptions api_options_of(const ServeFlags& options) {
  ApiOptions api;
  api.endpoints = endpoints_of(options);
  api.most_together = static_cast<size_t>(options.max_batch);
  api.pictures.pictures = static_cast<size_t>(options.max_pictures);
  DecodeLimits& decode = api.pictures.decode;
  decode.pixels = int64_t{1'000'000} * options.max_megapixels;
  decode.side = options.max_side;
  decode.scans = options.max_scans;
  decode.work = int64_t{1'000'000} * options.max_decode_work;
  return api;
}

PipelineOptions pipeline_of(const ServeFlags& options) {
  PipelineOptions pipeline;
  CrewOptions& crew = pipeline.classify;
  crew.workers = options.workers > 0 ? options.workers : threads();
  crew.most = static_cast<size_t>(options.max_batch);
  crew.patience = std::chrono::microseconds(static_cast<int64_t>(1000 * options.max_wait_ms));
  crew.queue = static_cast<size_t>(options.max_queue);
  pipeline.attend_workers = options.attend_workers;
  pipeline.readers = options.readers > 0 ? options.readers : crew.workers;
  pipeline.threads_each = std::max(1, threads() / crew.workers);
  return pipeline;
}

void run(ServeFlags& options) {
  fill_in(options.settings, kPrefix, options.config);
  if (options.print_config) {
    endpoints_of(options);  // what is printed can be served
    fmt::print("{}", ini_of(options.settings));
    return;
  }
  ServeOptions serving;
  serving.address = options.address;
  serving.limits = limits_of(options);
  serving.api = api_options_of(options);
  serving.pipeline = pipeline_of(options);
  serving.journal = {options.access_log, options.error_log, options.log_format == "json"};
  serving.allowed_hosts = options.allow_host;
  serving.allowed_origins = options.allow_origin;
  serve(open_models(options), serving);
}

}  // namespace

void add_serve(CLI::App& app) {
  auto options = std::make_shared<ServeFlags>();
  CLI::App* command =
      add_command(app, {"serve", "Run", "Serve the model over HTTP, with a page to explore it",
                        "soft serve\n"
                        "soft serve --weights runs/flowers/best.safetensors --port 9000\n"
                        "soft serve --access-log - --print-config"});
  add_serve_flags(command, options);
  command->callback([options] { run(*options); });
}

}  // namespace soft
