#include "study/timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

namespace soft {
namespace {

constexpr double kTurn = 0.2;  // seconds before the next contestant's turn
constexpr double kLongRun = 1;
constexpr size_t kFewestRuns = 5;

double now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(time).count();
}

double time_once(const Contestant& contestant) {
  const double start = now();
  contestant.run();
  return now() - start;
}

// The value below which this share of the runs lies.
double quantile(std::vector<double> seconds, double share) {
  const auto last = static_cast<double>(seconds.size() - 1);
  const auto at = seconds.begin() + std::lround(share * last);
  std::nth_element(seconds.begin(), at, seconds.end());
  return *at;
}

bool enough(const Timing& timing, const TimingPlan& plan) {
  const size_t runs = timing.seconds.size();
  if (plan.repeat > 0) return runs >= static_cast<size_t>(plan.repeat);
  const double total = std::accumulate(timing.seconds.begin(), timing.seconds.end(), 0.0);
  return runs >= kFewestRuns && total >= plan.seconds;
}

void take_turn(const Contestant& contestant, const TimingPlan& plan, Timing& timing) {
  const double end = now() + kTurn;
  while (!enough(timing, plan)) {
    timing.seconds.push_back(time_once(contestant));
    if (now() >= end) break;
  }
  if (plan.progress) {
    plan.progress(fmt::format("{}: {} runs", contestant.name, timing.seconds.size()));
  }
}

}  // namespace

double Timing::best() const { return *std::min_element(seconds.begin(), seconds.end()); }
double Timing::median() const { return quantile(seconds, 0.5); }
double Timing::spread() const { return quantile(seconds, 0.75) - quantile(seconds, 0.25); }

std::vector<Timing> time_in_turns(const std::vector<Contestant>& contestants,
                                  const TimingPlan& plan) {
  for (const Contestant& contestant : contestants) {
    const bool brief = time_once(contestant) < kLongRun;  // the first run also prepares
    if (brief) contestant.run();
  }
  std::vector<Timing> timings(contestants.size());
  const auto all_enough = [&] {
    return std::all_of(timings.begin(), timings.end(),
                       [&](const Timing& timing) { return enough(timing, plan); });
  };
  while (!all_enough()) {
    for (size_t i = 0; i < contestants.size(); ++i) take_turn(contestants[i], plan, timings[i]);
  }
  return timings;
}

}  // namespace soft
