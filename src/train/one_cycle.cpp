#include "train/one_cycle.h"

#include <algorithm>

namespace soft {
namespace {

double between(double from, double to, double share) { return from + (to - from) * share; }

double share_of(int64_t done, int64_t all) {
  return all > 0 ? std::clamp(static_cast<double>(done) / static_cast<double>(all), 0.0, 1.0) : 1;
}

}  // namespace

Pace pace_at(const OneCycle& cycle, int64_t step) {
  constexpr double kSlow = 0.95, kFast = 0.85;
  const double start = cycle.peak / 25, end = start / 1e4;
  const int64_t top = cycle.warmup - 1;
  if (step <= top) {
    const double share = share_of(step, top);
    return {between(start, cycle.peak, share), between(kSlow, kFast, share)};
  }
  const double share = share_of(step - top, cycle.steps - 1 - top);
  return {between(cycle.peak, end, share), between(kFast, kSlow, share)};
}

}  // namespace soft
