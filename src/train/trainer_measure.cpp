// What a run will take: a few real steps, timed, and the memory they needed.
#include <sys/resource.h>

#include <algorithm>
#include <fstream>

#include "attention/torch.h"
#include "base/memory.h"
#include "base/seconds.h"
#include "train/trainer.h"

namespace soft {
namespace {

// The most memory this process had at once since the last `forget_peak`.
int64_t peak_memory() {
  std::ifstream file("/proc/self/status");
  for (std::string key; file >> key;) {
    int64_t kilobytes = 0;
    if (key == "VmHWM:" && file >> kilobytes) return 1024 * kilobytes;
  }
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  return 1024 * int64_t{usage.ru_maxrss};
}

void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

}  // namespace

// Steps on few pictures first: a batch that would not fit into memory is reckoned, not tried.
TrainOutcome Trainer::measure() {
  const int64_t whole = plan_.run.recipe.batch;
  const int64_t few = std::min<int64_t>(whole, 2), some = std::min<int64_t>(whole, 8);
  measure_steps(few, 1);  // the first step of all also makes what later ones reuse
  const Measured small = measure_steps(few, 1);
  Measured step = measure_steps(some, 2);
  if (whole > some) {
    const auto more = static_cast<double>(whole - some);
    const double a_picture =
        static_cast<double>(step.bytes - small.bytes) / static_cast<double>(some - few);
    Measured reckoned{step.seconds * static_cast<double>(whole) / static_cast<double>(some),
                      step.bytes + static_cast<int64_t>(more * std::max(0.0, a_picture)), 0};
    const bool fits = reckoned.bytes - step.bytes < 0.8 * static_cast<double>(available_memory());
    step = fits && reckoned.seconds < 20 ? measure_steps(whole, 3) : reckoned;
  }
  return measured_outcome(step);
}

Trainer::Measured Trainer::measure_steps(int64_t batch, int steps) {
  LoaderOptions options = train_loader_.options();
  options.batch = batch;
  Loader loader(plan_.train, options);
  loader.start(0);
  forget_peak();
  model_->train(!plan_.run.freeze);
  Measured measured{0, 0, 0};
  while (measured.steps < steps) {
    const Batch* next = loader.next();
    if (next == nullptr) break;
    const auto start = Clock::now();
    train_batch(*next);
    const double seconds = seconds_since(start);
    measured.seconds = measured.steps == 0 ? seconds : std::min(measured.seconds, seconds);
    ++measured.steps;
  }
  measured.bytes = peak_memory();
  return measured;
}

TrainOutcome Trainer::measured_outcome(const Measured& step) {
  const Recipe& recipe = plan_.run.recipe;
  LoaderOptions options = val_loader_.options();
  options.batch = std::min<int64_t>(options.batch, 8);
  Loader few(limited(plan_.val, options.batch), options);
  const auto start = Clock::now();
  evaluate_with(few, evaluated());
  const double a_picture = seconds_since(start) / static_cast<double>(few.dataset().size());
  const auto passes = static_cast<double>(recipe.epochs * (average_ ? 2 : 1));
  const double training =
      step.seconds * static_cast<double>(recipe.epochs * train_loader_.batches());
  TrainOutcome outcome;
  outcome.plan = describe(plan_);
  outcome.plan["step_seconds"] = step.seconds * recipe.accumulate;
  outcome.plan["seconds"] = training + passes * a_picture * static_cast<double>(plan_.val.size());
  outcome.plan["memory_bytes"] = step.bytes;
  outcome.plan["steps_measured"] = step.steps;  // 0: reckoned from fewer pictures
  return outcome;
}

}  // namespace soft
