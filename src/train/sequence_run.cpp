#include "train/sequence_run.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"

namespace soft {
namespace {

// The task's own set, at a path of its own where one is given; or a spec as it stands.
std::string data_spec(const std::string& task, const std::string& data) {
  const std::string kind = task == "text"        ? "imdb"
                           : task == "retrieval" ? "aan"
                           : task == "image"     ? "cifar10-grey"
                                                 : "listops";
  if (data.empty()) return kind;
  for (const char* known : {"listops:", "imdb:", "aan:", "cifar10-grey:", "text:", "tsv:"}) {
    if (data.rfind(known, 0) == 0) return data;
  }
  return kind + ":" + data;
}

int64_t in_proportion(int64_t number, int64_t steps, int64_t all) {
  const double share = static_cast<double>(steps) / static_cast<double>(all);
  return std::max<int64_t>(1, std::llround(static_cast<double>(number) * share));
}

void check_at_least_one(const char* what, int64_t value) {
  if (value < 1) fail_usage("{} {}; it needs at least 1", what, value);
}

// Before any of it is divided by, or sizes memory.
void check_numbers(const SequenceRun& run) {
  check_at_least_one("steps", run.cycle.steps);
  check_at_least_one("batch", run.batch);
  check_at_least_one("eval-every", run.eval_every);
  check_at_least_one("a cut after", run.cut);
  if (!(run.cycle.peak > 0) || !std::isfinite(run.cycle.peak)) {
    fail_usage("a learning rate of {}; it must be above 0", run.cycle.peak);
  }
  if (run.cut > run.spec.length) {
    fail_usage("sequences cut after {} for a model of {} positions", run.cut, run.spec.length);
  }
}

}  // namespace

SequenceRun make_run(const SequenceTrainRequest& request) {
  const SequenceTask& task = find_sequence_task(request.task);
  SequenceRun run;
  run.task = request.task;
  run.data = data_spec(request.task, request.data);
  run.spec = sequence_spec(task, request.model);
  run.cut = task.cut;
  run.cycle.steps = request.steps.value_or(task.steps);
  run.cycle.warmup = in_proportion(task.warmup, run.cycle.steps, task.steps);
  run.cycle.peak = request.lr;
  run.batch = request.batch.value_or(task.batch);
  run.eval_every = std::min(request.eval_every.value_or(task.eval_every), run.cycle.steps);
  run.seed = request.seed;
  run.limit_train = request.limit_train;
  run.limit_dev = request.limit_dev;
  run.limit_test = request.limit_test;
  run.black_is_padding = request.black_is_padding;
  check_numbers(run);
  return run;
}

Json to_json(const SequenceRun& run) {
  return {{"task", run.task},
          {"data", run.data},
          {"model", to_json(run.spec)},
          {"optimizer", "AdamW, betas (cycled, 0.999), eps 1e-6, no weight decay, no clipping"},
          {"schedule", "one cycle, linear, from lr/25 over lr to lr/250000"},
          {"lr", run.cycle.peak},
          {"steps", run.cycle.steps},
          {"warmup", run.cycle.warmup},
          {"batch", run.batch},
          {"eval_every", run.eval_every},
          {"cut", run.cut},
          {"seed", run.seed},
          {"limit_train", run.limit_train},
          {"limit_dev", run.limit_dev},
          {"limit_test", run.limit_test},
          {"black_is_padding", run.black_is_padding},
          {"classes", run.mark.classes},
          {"listing", run.mark.listing},
          {"deviations", deviations_of(run)}};
}

SequenceRun read_sequence_run(const std::string& file) {
  return parse_sequence_run(read_text(file), file);
}

SequenceRun parse_sequence_run(const std::string& text, const std::string& file) {
  const Json json = parse_json(text, "'" + file + "'");
  try {
    SequenceRun run;
    run.task = json.at("task");
    run.data = json.at("data");
    run.spec = sequence_spec_from_json(json.at("model"), "'" + file + "'");
    run.cycle = {json.at("lr"), count_at(json, "warmup"), count_at(json, "steps")};
    run.batch = count_at(json, "batch");
    run.eval_every = count_at(json, "eval_every");
    run.cut = count_at(json, "cut");
    run.seed = json.at("seed");
    run.limit_train = count_at(json, "limit_train");
    run.limit_dev = count_at(json, "limit_dev");
    run.limit_test = count_at(json, "limit_test");
    run.black_is_padding = json.at("black_is_padding");
    run.mark = {json.value("classes", std::vector<std::string>()),
                json.value("listing", std::string())};
    find_sequence_task(run.task);
    check_numbers(run);
    return run;
  } catch (const Error& error) {
    fail("'{}' is no run of `soft lra train`: {}", file, shown(error.what()));
  } catch (const Json::exception& error) {
    fail("'{}' is no run of `soft lra train`: {}", file, error.what());
  }
}

std::vector<std::string> deviations_of(const SequenceRun& run) {
  const SequenceTask& task = find_sequence_task(run.task);
  std::vector<std::string> found;
  const auto compare = [&](const char* what, int64_t ours, int64_t theirs) {
    if (ours != theirs) found.push_back(fmt::format("{} {} instead of {}", what, ours, theirs));
  };
  compare("steps", run.cycle.steps, task.steps);
  compare("warm-up", run.cycle.warmup, task.warmup);
  compare("batch", run.batch, task.batch);
  compare("evaluated every", run.eval_every, task.eval_every);
  compare("landmark window", run.spec.frame.stages[0].ratio,
          uses_landmarks(run.spec.frame.attention) ? 4 : run.spec.frame.stages[0].ratio);
  if (run.cycle.peak != 1e-4) found.push_back(fmt::format("lr {} instead of 1e-4", run.cycle.peak));
  if (run.spec.class_token) found.emplace_back("pooled by a class token instead of the mean");
  if (run.task == "image" && !run.black_is_padding) {
    found.emplace_back("black pixels are tokens, not padding");
  }
  const std::pair<const char*, int64_t> limits[] = {
      {"training", run.limit_train}, {"development", run.limit_dev}, {"test", run.limit_test}};
  for (const auto& [what, limit] : limits) {
    if (limit > 0) found.push_back(fmt::format("at most {} {} examples", limit, what));
  }
  return found;
}

SequenceSets open_sets(SequenceRun& run) {
  SequenceRequest request;
  request.spec = run.data;
  request.length = run.cut;
  request.black_is_padding = run.black_is_padding;
  const auto open = [&](SequencePart part, int64_t limit) {
    request.part = part;
    request.limit = limit;
    return open_sequences(request);
  };
  SequenceSets sets{
      open(SequencePart::kTrain, run.limit_train), open(SequencePart::kDev, run.limit_dev), {}};
  sets.test = sets.dev.shared && run.limit_dev == run.limit_test
                  ? sets.dev
                  : open(SequencePart::kTest, run.limit_test);
  if (sets.train.sides != run.spec.sides || sets.train.vocabulary > run.spec.vocabulary) {
    fail_usage("'{}' does not fit the task {}: {} sequence(s) an example, {} ids", run.data,
               run.task, sets.train.sides, sets.train.vocabulary);
  }
  const DataMark stored = std::exchange(run.mark, mark_of(sets.train, sets.dev, sets.test));
  check_same_data(run.data, stored, run.mark, "begin a new run");
  run.spec.frame.classes = static_cast<int>(sets.train.class_count());
  return sets;
}

}  // namespace soft
