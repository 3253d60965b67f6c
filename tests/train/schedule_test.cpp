#include "train/schedule.h"

#include <cmath>

#include "support/support.h"

namespace soft {
namespace {

TEST(Schedule, OfTheReleasedRecipeIsThePublishedOne) {
  const Recipe recipe = preset_recipe("released", find_model("soft-tiny"));
  const Schedule schedule = schedule_of(recipe);
  EXPECT_DOUBLE_EQ(schedule.peak, 1e-3);
  const auto lr = [&](int64_t epoch) { return learning_rate(recipe, schedule, epoch, 0.7); };
  EXPECT_DOUBLE_EQ(lr(0), 1e-6);
  EXPECT_NEAR(lr(5), 1e-6 + 0.5 * (1e-3 - 1e-6), 1e-12);
  EXPECT_NEAR(lr(10), 5e-5 + 0.5 * (1e-3 - 5e-5) * (1 + std::cos(M_PI * 10 / 300)), 1e-12);
  EXPECT_NEAR(lr(150), 5e-5 + 0.5 * (1e-3 - 5e-5), 1e-12);
  EXPECT_NEAR(lr(300), 5e-5, 1e-12);
}

TEST(Schedule, ScalesWithTheGlobalBatch) {
  Recipe recipe = preset_recipe("released", find_model("soft-large"));
  recipe.batch = 256;
  recipe.accumulate = 2;
  EXPECT_DOUBLE_EQ(schedule_of(recipe).peak, 3.3e-4 * 512 / 1024);
  EXPECT_DOUBLE_EQ(schedule_of(recipe, 4).peak, 3.3e-4 * 2048 / 1024);
}

TEST(Schedule, LowersItsFloorWhenASmallBatchPushesThePeakBelowIt) {
  Recipe recipe = preset_recipe("released", find_model("soft-tiny"));
  recipe.batch = 16;
  const Schedule schedule = schedule_of(recipe);
  EXPECT_TRUE(schedule.floor_lowered);
  EXPECT_DOUBLE_EQ(schedule.floor, 1e-3 * 16 / 1024);
}

TEST(Schedule, MovesWithEveryStepWhenAsked) {
  Recipe recipe = preset_recipe("small", find_model("soft-nano"));
  const Schedule schedule = schedule_of(recipe);
  EXPECT_LT(learning_rate(recipe, schedule, 0, 0.25), learning_rate(recipe, schedule, 0, 0.75));
  EXPECT_GT(learning_rate(recipe, schedule, 5, 0.25), learning_rate(recipe, schedule, 5, 0.75));
}

}  // namespace
}  // namespace soft
