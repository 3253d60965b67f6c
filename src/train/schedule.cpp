#include "train/schedule.h"

#include <algorithm>
#include <cmath>

namespace soft {

Schedule schedule_of(const Recipe& recipe, int world) {
  const auto global_batch = static_cast<double>(recipe.batch * recipe.accumulate * world);
  Schedule schedule;
  schedule.peak = recipe.lr > 0 ? recipe.lr : recipe.lr_base * global_batch / 1024;
  schedule.floor_lowered = schedule.peak < recipe.min_lr;
  schedule.floor = std::min(recipe.min_lr, schedule.peak);
  return schedule;
}

double learning_rate(const Recipe& recipe, const Schedule& schedule, int64_t epoch,
                     double fraction) {
  const double e = static_cast<double>(epoch) + (recipe.per_step ? fraction : 0);
  if (e < recipe.warmup_epochs) {
    const double start = std::min(recipe.warmup_lr, schedule.peak);
    return start + e * (schedule.peak - start) / recipe.warmup_epochs;
  }
  const double wave = 1 + std::cos(M_PI * e / recipe.epochs);
  return schedule.floor + 0.5 * (schedule.peak - schedule.floor) * wave;
}

}  // namespace soft
