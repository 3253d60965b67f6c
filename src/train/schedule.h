// The learning rate over time: linear warm-up, then a cosine over all epochs (not shifted by the
// warm-up):
//   e < w:  warmup_lr + e (lr - warmup_lr) / w      e >= w:  min + (lr - min)(1 + cos(π e / E)) / 2
// e counts whole epochs, or fractions of them when the recipe says per_step.
#pragma once

#include "train/recipe.h"

namespace soft {

struct Schedule {
  double peak = 0;
  double floor = 0;            // never above the peak
  bool floor_lowered = false;  // a small batch pushed the peak below min_lr
};

Schedule schedule_of(const Recipe& recipe, int world = 1);

double learning_rate(const Recipe& recipe, const Schedule& schedule, int64_t epoch,
                     double fraction);

}  // namespace soft
