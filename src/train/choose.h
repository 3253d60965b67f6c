// Which recipe a run gets when none is named: one whose batch, warm-up and EMA fit the number of
// steps that the data and the epochs allow. Pure functions of a few numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "data/dataset.h"
#include "train/recipe.h"

namespace soft {

// What is known of a run before its recipe.
struct Occasion {
  int64_t pictures = 0;          // to train on
  int side = 0;                  // their usual short side in pixels; 0: the model's own
  std::optional<int> epochs;     // where they are asked for
  std::optional<int64_t> batch;  // likewise
  bool trained = false;          // starts from weights that have learnt something
};

struct Choice {
  Recipe recipe;
  std::string why;  // for people
};

// `finetune` from trained weights, `released` where it makes at least kReleasedSteps steps, and
// otherwise `fitted`.
constexpr int64_t kReleasedSteps = 10'000;
Choice choose_recipe(const ModelSpec& spec, const Occasion& occasion);

// The recipe `small` with what depends on the number of steps fitted to it.
Recipe fitted_recipe(const ModelSpec& spec, const Occasion& occasion);

// A power of two that lets so many pictures in all make about a thousand steps.
int64_t fitted_batch(int64_t pictures_in_all);

// A decay whose half-life is a twentieth of the run.
double fitted_ema_decay(int64_t steps);

// The part of the first weights that is still in the EMA after so many steps.
double first_weights_left(const Recipe& recipe, int64_t steps);

// Refuses a recipe whose EMA would be mostly the first weights at the end, naming the cure.
void check_average(const Recipe& recipe, int64_t steps);

// The median short side of a few pictures; 0 where the set has a size of its own.
int usual_side(const Dataset& dataset);

}  // namespace soft
