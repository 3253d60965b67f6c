#include "train/choose.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "describe/cost.h"

namespace soft {
namespace {

constexpr int64_t kWantedSteps = 1000;
constexpr int64_t kSmallestBatch = 16, kLargestBatch = 64;

// A large model takes smaller steps: 1.5e-3 suits soft-nano's 1.3 M parameters at a batch of 64.
double fitted_lr(const ModelSpec& spec, int64_t batch) {
  const int side = spec.image_size;
  const auto params = static_cast<double>(cost_of(spec, {side, side}).params);
  const double by_size = std::min(1.0, std::cbrt(1.3e6 / params));
  return 1.5e-3 * std::sqrt(static_cast<double>(batch) / 64) * by_size;
}

// Pictures no larger than the input are shifted and never cropped; photos are cut at random.
void fit_crops(Recipe& recipe, const ModelSpec& spec, int side) {
  if (side > spec.image_size) {
    recipe.augmentation.crop = Crop::kRandomResized;
    recipe.augmentation.min_scale = 0.35;
    return;
  }
  recipe.augmentation.crop = Crop::kPad;
  recipe.augmentation.pad = spec.image_size / 8;
  recipe.eval_crop = 1;
}

}  // namespace

int64_t fitted_batch(int64_t pictures_in_all) {
  int64_t batch = kSmallestBatch;
  while (batch < kLargestBatch && 2 * batch * kWantedSteps <= pictures_in_all) batch *= 2;
  return batch;
}

double fitted_ema_decay(int64_t steps) {
  const double half_life = std::max(1.0, static_cast<double>(steps) / 20);
  return std::min(0.9998, std::pow(0.5, 1 / half_life));
}

Recipe fitted_recipe(const ModelSpec& spec, const Occasion& occasion) {
  Recipe recipe = preset_recipe("small", spec);
  recipe.preset = "fitted";
  recipe.epochs = occasion.epochs.value_or(recipe.epochs);
  const int64_t fitting =
      std::min(fitted_batch(occasion.pictures * recipe.epochs), occasion.pictures);
  recipe.batch = std::max<int64_t>(1, occasion.batch.value_or(fitting));
  recipe.lr = fitted_lr(spec, recipe.batch);
  recipe.warmup_epochs = 0.1 * recipe.epochs;
  const int64_t steps = steps_of(recipe, occasion.pictures);
  recipe.ema_decay = fitted_ema_decay(steps);
  if (steps < 5 * kWantedSteps) recipe.augmentation.mix_probability = 0;
  fit_crops(recipe, spec, occasion.side);
  return recipe;
}

Choice choose_recipe(const ModelSpec& spec, const Occasion& occasion) {
  if (occasion.trained) {
    return {preset_recipe("finetune", spec), "--init gives trained weights"};
  }
  Recipe released = preset_recipe("released", spec);
  released.epochs = occasion.epochs.value_or(released.epochs);
  released.batch = occasion.batch.value_or(released.batch);
  const int64_t steps = released.batch > 0 ? steps_of(released, occasion.pictures) : 0;
  if (steps >= kReleasedSteps) {
    return {released, fmt::format("it makes {} steps here, at least {}", steps, kReleasedSteps)};
  }
  return {fitted_recipe(spec, occasion),
          fmt::format("the released recipe would make {} steps here and wants {}", steps,
                      kReleasedSteps)};
}

double first_weights_left(const Recipe& recipe, int64_t steps) {
  if (!recipe.ema || recipe.ema_warmup) return 0;
  return std::pow(recipe.ema_decay, static_cast<double>(steps));
}

void check_average(const Recipe& recipe, int64_t steps) {
  const double left = first_weights_left(recipe, steps);
  if (left <= 0.5) return;
  fail_usage(
      "after the last of {} steps {:.0f} % of the first weights would still be in the EMA "
      "(ema_decay={}), which is evaluated and saved; add --set ema_warmup=on, or --set ema=off",
      steps, 100 * left, recipe.ema_decay);
}

int usual_side(const Dataset& dataset) {
  if (dataset.native_size > 0 || dataset.size() == 0) return 0;
  const int64_t looks = std::min<int64_t>(9, dataset.size());
  std::vector<int> sides;
  for (int64_t k = 0; k < looks; ++k) {
    try {
      const Image image = dataset.load(k * dataset.size() / looks);
      sides.push_back(std::min(image.width, image.height));
    } catch (const Error&) {  // training names it when its turn comes
    }
  }
  if (sides.empty()) return 0;
  const auto middle = sides.begin() + static_cast<ptrdiff_t>(sides.size() / 2);
  std::nth_element(sides.begin(), middle, sides.end());
  return *middle;
}

}  // namespace soft
