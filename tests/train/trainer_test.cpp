#include "train/trainer.h"

#include <filesystem>
#include <map>

#include "base/error.h"
#include "train/little_run.h"

namespace soft {
namespace {

namespace fs = std::filesystem;

using test::fingerprint;
using test::little_run;
using test::notices_of;
using test::resume;
using test::train;
using test::train_until;
using test::TrainerTest;

TEST_F(TrainerTest, WritesWeightsLogRecipeAndState) {
  const TrainOutcome outcome = train(little_run(folder_.path("run")));
  ASSERT_EQ(outcome.rows.size(), 2);
  EXPECT_GT(outcome.rows[0].train_loss, 0);
  for (const char* file : {"last.safetensors", "best.safetensors", "log.csv", "recipe.json"}) {
    EXPECT_TRUE(fs::exists(folder_.path("run/") + file)) << file;
  }
  const Card card = card_of(read_weights(folder_.path("run/best.safetensors")));
  EXPECT_EQ(card.spec.classes, static_cast<int>(card.class_names.size()));
}

TEST_F(TrainerTest, GivesTheSameBitsForTheSameSeed) {
  train(little_run(folder_.path("a")));
  train(little_run(folder_.path("b")));
  TrainRequest other = little_run(folder_.path("c"));
  other.seed = 7;
  train(other);
  EXPECT_EQ(fingerprint(folder_.path("a")), fingerprint(folder_.path("b")));
  EXPECT_NE(fingerprint(folder_.path("a")), fingerprint(folder_.path("c")));
}

TEST_F(TrainerTest, ResumedAfterAnyStepEqualsTheUninterruptedRunBitForBit) {
  train(little_run(folder_.path("whole")));
  for (int stop_after : {1, 3, 4, 6}) {
    const std::string folder = folder_.path("cut" + std::to_string(stop_after));
    EXPECT_TRUE(train_until(little_run(folder), stop_after).interrupted);
    EXPECT_EQ(resume(folder).rows.size(), 2);
    EXPECT_EQ(fingerprint(folder), fingerprint(folder_.path("whole"))) << stop_after;
  }
}

TEST_F(TrainerTest, AResumedEpochCountsTheTimeItTookBefore) {
  const std::string folder = folder_.path("run");
  train_until(little_run(folder), 3);
  const double before = StateFolder(folder + "/state").load()->position.seconds;
  ASSERT_GT(before, 0);
  EXPECT_GT(resume(folder).rows[0].seconds, before);
}

TEST_F(TrainerTest, FallsBackToTheOlderStateWhenTheNewestIsDamaged) {
  train(little_run(folder_.path("whole")));
  const std::string folder = folder_.path("damaged");
  TrainRequest request = little_run(folder);
  request.save_steps = 2;
  train_until(request, 6);
  const std::string newest = StateFolder(folder + "/state").newest();
  std::string bytes = test::read_file(newest);
  bytes[bytes.size() - 5] ^= 1;
  test::write_file(newest, bytes);
  resume(folder);
  EXPECT_EQ(fingerprint(folder), fingerprint(folder_.path("whole")));
}

TEST_F(TrainerTest, RefusesToResumeWithAChangedRecipeUnlessTold) {
  train(little_run(folder_.path("run")));
  TrainRequest longer;
  longer.out = folder_.path("run");
  longer.resume = true;
  longer.epochs = 3;
  EXPECT_THAT(test::error_of([&] { train(longer); }), testing::HasSubstr("recipe.epochs"));
  longer.allow_change = true;
  EXPECT_EQ(train(longer).rows.size(), 3);
}

TEST_F(TrainerTest, RunsAStoredRecipeAgain) {
  train(little_run(folder_.path("first")));
  TrainRequest again;
  again.recipe = folder_.path("first/recipe.json");
  again.out = folder_.path("again");
  train(again);
  EXPECT_EQ(fingerprint(folder_.path("again")), fingerprint(folder_.path("first")));
}

TEST_F(TrainerTest, OverfitsAHandfulOfPictures) {
  TrainRequest request = little_run(folder_.path("run"));
  request.epochs = 90;
  request.batch = 8;
  request.limit_train = 8;
  request.limit_val = 8;
  for (const char* setting : {"mix_probability=0", "smoothing=0", "crop=none", "flip=0", "ema=off",
                              "drop_path=0", "lr=0.004"}) {
    request.settings.emplace_back(setting);
  }
  const TrainOutcome outcome = train(request);
  EXPECT_LT(outcome.rows.back().train_loss, 0.1);
}

// With a frozen body and nothing random about the pictures the gradient does not depend on how they
// are divided into batches. After one step the optimizer's mean is that gradient times 1 - beta1.
TEST_F(TrainerTest, AccumulatedGradientsEqualThoseOfTheWholeBatch) {
  const auto mean_of = [&](const char* name, int64_t batch, const char* accumulate) {
    TrainRequest request = little_run(folder_.path(name));
    request.freeze = true;
    request.epochs = 1;
    request.batch = batch;
    request.limit_train = 16;
    for (const char* setting : {"mix_probability=0", "smoothing=0", "crop=none", "flip=0",
                                "ema=off", "clip=0", accumulate}) {
      request.settings.emplace_back(setting);
    }
    train(request);
    const State state = *StateFolder(folder_.path(name) + "/state").load();
    EXPECT_EQ(state.position.step, 1);
    return state.tensors.at("mean.head.weight");
  };
  const torch::Tensor whole = mean_of("whole", 16, "accumulate=1");
  EXPECT_GT(whole.abs().max().item<double>(), 0);
  EXPECT_LT(test::relative_error(mean_of("parts", 4, "accumulate=4"), whole), 1e-5);
}

TEST_F(TrainerTest, StopsOnlyBetweenTheStepsOfAccumulatedBatches) {
  TrainRequest request = little_run(folder_.path("cut"));
  request.batch = 8;
  request.settings.emplace_back("accumulate=4");
  EXPECT_TRUE(train_until(request, 2).interrupted);  // asked in the middle of the first step
  const Position at = StateFolder(folder_.path("cut/state")).load()->position;
  EXPECT_EQ(at.step, 1);
  EXPECT_EQ(at.batch, 4);
  resume(folder_.path("cut"));
  request.out = folder_.path("whole");
  train(request);
  EXPECT_EQ(fingerprint(folder_.path("cut")), fingerprint(folder_.path("whole")));
}

TEST_F(TrainerTest, RefusesAccumulationOverMoreThanAnEpoch) {
  TrainRequest request = little_run(folder_.path("run"));
  request.settings.emplace_back("accumulate=5");  // of 16 pictures each, out of 64
  EXPECT_THAT(test::error_of([&] { train(request); }), testing::HasSubstr("accumulate=5"));
}

TEST_F(TrainerTest, SaysWhenTheAverageWillStillBeTheStart) {
  TrainRequest request = little_run(folder_.path("run"));
  request.settings.emplace_back("ema_warmup=off");
  EXPECT_THAT(test::error_of([&] { train(request); }),
              testing::HasSubstr("98 % of the first weights"));
  EXPECT_FALSE(fs::exists(folder_.path("run")));
  request.settings.emplace_back("ema_decay=0.8");
  EXPECT_THAT(notices_of(request),
              testing::Contains(testing::HasSubstr("17 % of the first weights")));
}

TEST_F(TrainerTest, LogsTheAccuraciesOfTheWeightsAndOfTheirAverage) {
  TrainRequest request = little_run(folder_.path("both"));
  const EpochRow row = train(request).rows.back();
  EXPECT_EQ(row.top1, row.top1_ema);
  const Json json = to_json(row);
  EXPECT_EQ(json["top1_weights"], row.top1_weights);
  EXPECT_THAT(test::read_file(folder_.path("both/log.csv")),
              testing::HasSubstr("seconds,top1_weights,top1_ema,share,kernel_median,rank\n"));
  // Without an average the weights are what is evaluated: the same weights, step for step.
  request.out = folder_.path("alone");
  request.settings.emplace_back("ema=off");
  const EpochRow alone = train(request).rows.back();
  EXPECT_EQ(alone.top1, row.top1_weights);
  EXPECT_EQ(alone.top1_weights, row.top1_weights);
  EXPECT_TRUE(to_json(alone)["top1_ema"].is_null());
}

TEST_F(TrainerTest, ChoosesARecipeThatFitsAndStoresItWithItsData) {
  TrainRequest request = little_run(folder_.path("run"));
  request.recipe.clear();
  request.batch.reset();
  const Plan plan = make_plan(request);
  EXPECT_EQ(plan.run.recipe.preset, "fitted");
  EXPECT_THAT(plan.why, testing::HasSubstr("released"));
  EXPECT_EQ(plan.run.recipe.batch, 16);
  EXPECT_EQ(describe(plan)["why"], plan.why);
  train(request);
  const RunFile stored = read_run_file(folder_.path("run/recipe.json"));
  EXPECT_EQ(to_json(stored.recipe), to_json(plan.run.recipe));
  EXPECT_EQ(stored.mark.classes.size(), 10u);
  EXPECT_EQ(stored.mark.listing, plan.run.mark.listing);
}

TEST_F(TrainerTest, HoldsOutAPartOfTheTrainingPicturesAndStoresHowMuch) {
  TrainRequest request = little_run(folder_.path("run"));
  request.val_fraction = 0.25;
  request.limit_val = 0;
  EXPECT_EQ(make_plan(request).run.val_fraction, 0.25);
  request.limit_val = 32;
  train_until(request, 2);
  EXPECT_EQ(read_run_file(folder_.path("run/recipe.json")).val_fraction, 0.25);
  EXPECT_EQ(resume(folder_.path("run")).rows.size(), 2);
}

TEST_F(TrainerTest, MeasuresAFewStepsAndWritesNothing) {
  TrainRequest request = little_run(folder_.path("run"));
  request.dry_run = true;
  const Json plan = Trainer(make_plan(request), request, {}).measure().plan;
  EXPECT_GT(plan["seconds"], plan["step_seconds"]);
  EXPECT_EQ(plan["steps_measured"], 3);
  EXPECT_GT(plan["memory_bytes"], 1'000'000);
  EXPECT_FALSE(fs::exists(folder_.path("run")));
}

TEST_F(TrainerTest, WritesNothingWhenTheValidationLossIsNotFinite) {
  TrainRequest request = little_run(folder_.path("run"));
  request.limit_train = 16;  // one step, whose own loss is still fine
  request.lr = 1e30;
  for (const char* setting : {"clip=0", "warmup_epochs=0", "per_step=off"}) {
    request.settings.emplace_back(setting);
  }
  const std::string message = test::error_of([&] { train(request); });
  EXPECT_THAT(message, testing::HasSubstr("the validation loss is"));
  EXPECT_THAT(message, testing::HasSubstr("last good state: none yet"));
  EXPECT_FALSE(fs::exists(folder_.path("run/best.safetensors")));
}

TEST_F(TrainerTest, StartsTheEpochAnewWhenItsBatchesHaveChanged) {
  train_until(little_run(folder_.path("run")), 3);
  TrainRequest smaller;
  smaller.out = folder_.path("run");
  smaller.resume = smaller.allow_change = true;
  smaller.batch = 8;
  EXPECT_THAT(notices_of(smaller), testing::Contains(testing::HasSubstr("epoch 1 starts anew")));
  EXPECT_EQ(StateFolder(folder_.path("run/state")).load()->position.step, 3 + 2 * 8);
}

TEST_F(TrainerTest, ResumesWithoutTheWeightsItStartedFrom) {
  train(little_run(folder_.path("first")));
  TrainRequest request = little_run(folder_.path("second"));
  request.init = folder_.path("first/best.safetensors");
  train_until(request, 2);
  fs::remove(folder_.path("first/best.safetensors"));
  EXPECT_EQ(resume(folder_.path("second")).rows.size(), 2);
}

TEST_F(TrainerTest, StopsAtANonFiniteLossWithStepRateTensorAndState) {
  TrainRequest request = little_run(folder_.path("run"));
  request.settings.emplace_back("clip=0");
  request.settings.emplace_back("warmup_epochs=0");
  request.settings.emplace_back("per_step=off");
  request.lr = 1e30;
  const std::string message = test::error_of([&] { train(request); });
  EXPECT_THAT(message, testing::HasSubstr("lr 1.000e+30"));
  EXPECT_THAT(message, testing::HasSubstr("first bad tensor"));
  EXPECT_THAT(message, testing::HasSubstr("last good state"));
}

TEST_F(TrainerTest, ReportsALossStuckAtChance) {
  TrainRequest request = little_run(folder_.path("run"));
  request.epochs = 1;
  request.lr = 1e-12;
  EXPECT_THAT(notices_of(request), testing::Contains(testing::HasSubstr("still that of guessing")));
}

TEST_F(TrainerTest, FineTunesFromWeightsOfAnotherSize) {
  train(little_run(folder_.path("first")));
  TrainRequest request = little_run(folder_.path("second"));
  request.settings.emplace_back("image_size=48");
  request.init = folder_.path("first/best.safetensors");
  request.epochs = 1;
  EXPECT_THAT(notices_of(request), testing::Contains(testing::HasSubstr("pos_embed1 is resized")));
}

TEST_F(TrainerTest, LinearProbingChangesTheHeadAlone) {
  train(little_run(folder_.path("first")));
  TrainRequest request = little_run(folder_.path("probe"));
  request.init = folder_.path("first/last.safetensors");
  request.freeze = true;
  request.settings.emplace_back("ema=off");
  train(request);
  const Weights before = read_weights(folder_.path("first/last.safetensors"));
  const Weights after = read_weights(folder_.path("probe/last.safetensors"));
  for (const auto& [name, view] : before.tensors) {
    const bool same = to_floats(view) == to_floats(after.tensors.at(name));
    EXPECT_EQ(same, name.rfind("head.", 0) != 0) << name;
  }
}

}  // namespace
}  // namespace soft
