#include "train/choose.h"

#include <cmath>

#include "support/support.h"

namespace soft {
namespace {

using testing::HasSubstr;

Occasion occasion_of(int64_t pictures, std::optional<int> epochs = {}) {
  Occasion occasion;
  occasion.pictures = pictures;
  occasion.epochs = epochs;
  return occasion;
}

const ModelSpec kNano = find_model("soft-nano");

TEST(ChooseRecipe, TakesTheReleasedOneOnlyWhereItMakesTenThousandSteps) {
  EXPECT_EQ(choose_recipe(kNano, occasion_of(1'281'167)).recipe.preset, "released");
  EXPECT_EQ(choose_recipe(kNano, occasion_of(1024 * 10'000, 1)).recipe.preset, "released");
  const Choice fitted = choose_recipe(kNano, occasion_of(1024 * 10'000 - 1, 1));
  EXPECT_EQ(fitted.recipe.preset, "fitted");
  EXPECT_THAT(fitted.why, HasSubstr("9999 steps"));
  Occasion small_batches = occasion_of(64 * 10'000, 1);
  small_batches.batch = 64;
  EXPECT_EQ(choose_recipe(kNano, small_batches).recipe.preset, "released");
}

TEST(ChooseRecipe, FineTunesFromTrainedWeights) {
  Occasion occasion = occasion_of(1'281'167);
  occasion.trained = true;
  const Choice choice = choose_recipe(kNano, occasion);
  EXPECT_EQ(choice.recipe.preset, "finetune");
  EXPECT_THAT(choice.why, HasSubstr("--init"));
}

// From five pictures to a large set, for small and large models: every one is a recipe that works.
TEST(ChooseRecipe, FitsBatchWarmupAndAverageToTheSteps) {
  for (const char* model : {"soft-nano", "soft-tiny", "soft-huge"}) {
    for (int64_t pictures : {5, 40, 500, 1620, 50'000, 1'000'000}) {
      for (int epochs : {1, 10, 100}) {
        const Recipe recipe = fitted_recipe(find_model(model), occasion_of(pictures, epochs));
        const int64_t steps = steps_of(recipe, pictures);
        SCOPED_TRACE(testing::Message() << model << " " << pictures << " x " << epochs);
        EXPECT_NO_THROW(validate(recipe));
        EXPECT_NO_THROW(check_average(recipe, steps));
        EXPECT_GE(steps, 1);
        EXPECT_LE(recipe.batch, pictures);
        EXPECT_EQ(recipe.epochs, epochs);
        EXPECT_LT(recipe.warmup_epochs, 0.5 * epochs);
        EXPECT_LE(std::pow(recipe.ema_decay, static_cast<double>(steps)), 0.5);
      }
    }
  }
}

TEST(ChooseRecipe, AimsAtAThousandStepsWithBatchesThatAreNeitherTinyNorLarge) {
  EXPECT_EQ(fitted_batch(500), 16);
  EXPECT_EQ(fitted_batch(31'999), 16);
  EXPECT_EQ(fitted_batch(32'000), 32);
  EXPECT_EQ(fitted_batch(64'000), 64);
  EXPECT_EQ(fitted_batch(50'000'000), 64);
}

TEST(ChooseRecipe, ForgetsHalfOfTheAverageInATwentiethOfTheRun) {
  EXPECT_NEAR(std::pow(fitted_ema_decay(1000), 50), 0.5, 1e-12);
  EXPECT_EQ(fitted_ema_decay(10), 0.5);
  EXPECT_EQ(fitted_ema_decay(10'000'000), 0.9998);
}

TEST(ChooseRecipe, CutsPhotosAtRandomAndLeavesSmallPicturesWhole) {
  Occasion occasion = occasion_of(1000, 10);
  occasion.side = 32;
  const Recipe small = fitted_recipe(kNano, occasion);
  EXPECT_EQ(small.augmentation.crop, Crop::kPad);
  EXPECT_EQ(small.augmentation.pad, 4);
  EXPECT_EQ(small.eval_crop, 1);
  occasion.side = 300;
  const Recipe photos = fitted_recipe(kNano, occasion);
  EXPECT_EQ(photos.augmentation.crop, Crop::kRandomResized);
  EXPECT_EQ(photos.eval_crop, 0.9);
}

TEST(ChooseRecipe, KeepsABatchThatIsAskedFor) {
  Occasion occasion = occasion_of(1000, 10);
  occasion.batch = 128;
  EXPECT_EQ(fitted_recipe(kNano, occasion).batch, 128);
}

TEST(CheckAverage, RefusesAnAverageThatStaysTheFirstWeightsAndNamesTheCure) {
  Recipe recipe = preset_recipe("released", kNano);
  EXPECT_NEAR(first_weights_left(recipe, 1000), 0.9608, 1e-4);
  const std::string message = test::error_of([&] { check_average(recipe, 1000); });
  EXPECT_THAT(message, HasSubstr("96 % of the first weights"));
  EXPECT_THAT(message, HasSubstr("--set ema_warmup=on"));
  EXPECT_NO_THROW(check_average(recipe, 20'000));
  recipe.ema_warmup = true;
  EXPECT_NO_THROW(check_average(recipe, 10));
  recipe.ema_warmup = recipe.ema = false;
  EXPECT_NO_THROW(check_average(recipe, 10));
}

TEST(UsualSide, IsTheMedianOfAFewPicturesThatCanBeRead) {
  Dataset dataset;
  dataset.labels.assign(100, 0);
  dataset.load = [](int64_t index) {
    if (index < 30) throw Error(Fault::kWorld, "broken");
    return Image(index < 50 ? 1000 : 40, 60);
  };
  EXPECT_EQ(usual_side(dataset), 40);
  dataset.native_size = 32;
  EXPECT_EQ(usual_side(dataset), 0);
  dataset.native_size = 0;
  dataset.labels.assign(3, 0);
  EXPECT_EQ(usual_side(dataset), 0);  // none of them can be read
}

}  // namespace
}  // namespace soft
