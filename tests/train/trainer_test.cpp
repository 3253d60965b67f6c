#include "train/trainer.h"

#include <filesystem>

#include "base/error.h"
#include "train/little_run.h"

namespace soft {
namespace {

namespace fs = std::filesystem;

using test::fingerprint;
using test::little_run;
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

TEST_F(TrainerTest, AccumulatedGradientsEqualThoseOfTheWholeBatch) {
  // Two batches of 8 that make one step are one batch of 16 when nothing depends on the batch
  // itself.
  torch::manual_seed(3);
  torch::nn::Linear model(6, 3);
  const torch::Tensor x = torch::randn({16, 6});
  const torch::Tensor y = torch::softmax(torch::randn({16, 3}), -1);
  const auto loss = [&](int64_t begin, int64_t count) {
    const auto logits = model(x.narrow(0, begin, count));
    return -(y.narrow(0, begin, count) * torch::log_softmax(logits, -1)).sum(-1).mean();
  };
  loss(0, 16).backward();
  const torch::Tensor whole = model->weight.grad().clone();
  model->zero_grad();
  (loss(0, 8) / 2).backward();
  (loss(8, 8) / 2).backward();
  EXPECT_LT(test::relative_error(model->weight.grad(), whole), 1e-6);
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
  std::vector<std::string> notices;
  TrainEvents events;
  events.notice = [&](const std::string& text) { notices.push_back(text); };
  train(request, events);
  EXPECT_THAT(notices, testing::Contains(testing::HasSubstr("still that of guessing")));
}

TEST_F(TrainerTest, FineTunesFromWeightsOfAnotherSizeAndClassCount) {
  train(little_run(folder_.path("first")));
  TrainRequest request = little_run(folder_.path("second"));
  request.settings.emplace_back("image_size=48");
  request.init = folder_.path("first/best.safetensors");
  request.epochs = 1;
  std::vector<std::string> notices;
  TrainEvents events;
  events.notice = [&](const std::string& text) { notices.push_back(text); };
  EXPECT_EQ(train(request, events).rows.size(), 1);
  EXPECT_THAT(notices, testing::Contains(testing::HasSubstr("pos_embed1 is resized")));
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

TEST_F(TrainerTest, LeavesNothingBehindWhenTheDataIsMissing) {
  TrainRequest request = little_run(folder_.path("run"));
  request.data = "folder:" + folder_.path("nowhere");
  test::error_of([&] { train(request); });
  EXPECT_FALSE(fs::exists(folder_.path("run")));
}

}  // namespace
}  // namespace soft
