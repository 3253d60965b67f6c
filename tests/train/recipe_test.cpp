#include "train/recipe.h"

#include <cmath>
#include <map>

#include "support/support.h"

namespace soft {
namespace {

TEST(Recipe, PresetsSurviveJson) {
  for (std::string_view name : preset_names()) {
    const Recipe recipe = preset_recipe(name, find_model("soft-medium"));
    EXPECT_NO_THROW(validate(recipe)) << name;
    EXPECT_EQ(to_json(recipe_from_json(to_json(recipe), "test")), to_json(recipe)) << name;
  }
}

TEST(Recipe, EveryFieldHasAMeaningThatFitsALine) {
  for (const FieldHelp& help : recipe_field_help()) {
    EXPECT_FALSE(help.meaning.empty()) << help.key;
    EXPECT_LE(help.meaning.size(), 62u) << help.key;
    EXPECT_FALSE(help.values.empty()) << help.key;
  }
}

TEST(Recipe, CountsStepsWithoutTheIncompleteBatch) {
  Recipe recipe;
  recipe.epochs = 3;
  recipe.batch = 10;
  EXPECT_EQ(steps_of(recipe, 59), 15);
  recipe.accumulate = 2;
  EXPECT_EQ(steps_of(recipe, 59), 6);
}

TEST(Recipe, OfThePaperSwitchesOffWhatThePaperDoesNotState) {
  const Recipe recipe = preset_recipe("paper", find_model("soft-tiny"));
  EXPECT_EQ(recipe.clip, 0);
  EXPECT_EQ(recipe.drop_path, 0);
  EXPECT_FALSE(recipe.ema);
  EXPECT_TRUE(recipe.decay_all);
  EXPECT_EQ(recipe.augmentation.operations, 0);
  EXPECT_EQ(recipe.augmentation.erasing, 0);
  EXPECT_EQ(recipe.augmentation.smoothing, 0.1);
  EXPECT_EQ(recipe.augmentation.crop, Crop::kRandomResized);
}

TEST(Recipe, TakesItsLearningRateFromThePublishedScript) {
  EXPECT_EQ(preset_recipe("released", find_model("soft-small")).lr_base, 1e-3);
  EXPECT_EQ(preset_recipe("released", find_model("soft-medium")).lr_base, 3.5e-4);
  EXPECT_EQ(preset_recipe("released", find_model("soft-medium-norm")).lr_base, 4e-4);
  EXPECT_EQ(preset_recipe("released", find_model("soft-huge")).lr_base, 2.7e-4);
}

TEST(Recipe, EveryFieldCanBeSetAndReadBack) {
  Recipe recipe;
  set_recipe_field(recipe, "ema", "off");
  set_recipe_field(recipe, "crop", "pad");
  set_recipe_field(recipe, "mixup", "0.4");
  set_recipe_field(recipe, "epochs", "7");
  const Json json = to_json(recipe);
  EXPECT_EQ(json["ema"], "off");
  EXPECT_EQ(json["crop"], "pad");
  EXPECT_EQ(json["mixup"], "0.4");
  EXPECT_EQ(json["epochs"], "7");
}

TEST(Recipe, AnswersAMistypedKeyWithTheNearestOne) {
  Recipe recipe;
  EXPECT_THAT(test::error_of([&] { set_recipe_field(recipe, "emma", "on"); }),
              testing::HasSubstr("did you mean 'ema'"));
  EXPECT_THAT(test::error_of([&] { set_recipe_field(recipe, "clip", "much"); }),
              testing::HasSubstr("clip=much is not a number"));
  EXPECT_THAT(test::error_of([] { preset_recipe("smal", find_model("soft-nano")); }),
              testing::HasSubstr("did you mean 'small'"));
}

TEST(Recipe, RefusesWhatCannotWork) {
  Recipe recipe;
  recipe.epochs = 0;
  EXPECT_THAT(test::error_of([&] { validate(recipe); }), testing::HasSubstr("epochs=0"));
  for (const auto& [key, value] : std::map<std::string, std::string>{{"drop_path", "1"},
                                                                     {"beta1", "1"},
                                                                     {"beta2", "-3"},
                                                                     {"eps", "0"},
                                                                     {"lr_base", "0"},
                                                                     {"weight_decay", "-5"},
                                                                     {"min_lr", "-1"},
                                                                     {"warmup_lr", "-1"},
                                                                     {"warmup_epochs", "-3"},
                                                                     {"clip", "-1"}}) {
    recipe = Recipe();
    set_recipe_field(recipe, key, value);
    EXPECT_THAT(test::error_of([&] { validate(recipe); }), testing::HasSubstr(key + "=" + value));
  }
}

TEST(Recipe, RefusesWhatIsNoNumber) {
  Recipe recipe;
  recipe.lr = recipe.beta1 = recipe.weight_decay = std::nan("");
  EXPECT_THAT(test::error_of([&] { validate(recipe); }), testing::HasSubstr("=nan"));
}

}  // namespace
}  // namespace soft
