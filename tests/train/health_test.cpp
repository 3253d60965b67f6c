// What is said about a model's attention, on models whose attention is known.
#include "train/health.h"

#include "attention/torch.h"
#include "train/little_run.h"

namespace soft {
namespace {

using torch::Tensor;

std::shared_ptr<Classifier> pico(const std::vector<const char*>& settings) {
  ModelSpec spec = find_model("soft-pico");
  for (const char* setting : settings) apply_setting(spec, setting);
  torch::manual_seed(5);
  auto model = std::make_shared<Classifier>(spec);
  model->eval();
  return model;
}

Tensor pictures() {
  torch::manual_seed(6);
  return torch::randn({3, 3, 32, 32});
}

TEST(Health, HasARowForEveryHeadInTheOrderOfTheLayers) {
  const auto rows = head_health(*pico({}), pictures());
  ASSERT_EQ(rows.size(), 1u + 2u + 2u + 3u);  // heads of the four stages
  EXPECT_EQ(rows[2].stage, 2);
  EXPECT_EQ(rows[2].layer, 1);
  EXPECT_EQ(rows[2].head, 2);
  for (const HeadHealth& row : rows) {
    EXPECT_GT(row.share, 0);
    const bool landmarks = row.stage < 4;  // stage 4 is softmax's
    EXPECT_EQ(std::isfinite(row.kernel_median), landmarks);
    EXPECT_EQ(std::isfinite(row.rank), landmarks);
    EXPECT_EQ(std::isfinite(row.residual), landmarks);
  }
  EXPECT_NEAR(rows.back().row_sum, 1, 1e-5);  // softmax's rows add up to 1
}

TEST(Health, ShowsThatLayerNormUndoesTheScaleOfTheLandmarks) {
  const auto released = layer_health(*pico({}), pictures());
  const auto paper = layer_health(*pico({"kernel_scale=paper", "normalise=rows"}), pictures());
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_GT(paper[i].kernel_median, 0.1) << i;
    EXPECT_LT(released[i].kernel_median, paper[i].kernel_median) << i;
    EXPECT_GT(paper[i].share, kIdleShare) << i;
  }
}

TEST(Health, RowsDividedByTheirSumsAddUpToOne) {
  for (const HeadHealth& row :
       head_health(*pico({"kernel_scale=paper", "normalise=rows"}), pictures())) {
    EXPECT_NEAR(row.row_sum, 1, 0.02);
  }
}

TEST(Health, NoAttentionHasNoShare) {
  const auto model = pico({"attention=none", "stage4=soft", "class_token=off"});
  const auto rows = head_health(*model, pictures());
  EXPECT_EQ(rows.front().share, 0);
  EXPECT_EQ(rows.front().row_sum, 0);
  EXPECT_EQ(rows.front().row_correlation, 1);  // all rows are alike
}

TEST(Health, OfTheRankOfIdenticalLandmarksIsOne) {
  const auto rows = head_health(*pico({}), torch::zeros({1, 3, 32, 32}));
  for (const HeadHealth& row : rows) {
    if (std::isfinite(row.rank)) {
      EXPECT_GE(row.rank, 1 - 1e-6);
    }
  }
}

TEST(LogitsWithout, LeaveOutWhatTheyAreAskedTo) {
  const auto model = pico({"kernel_scale=paper", "normalise=rows"});
  const torch::NoGradGuard no_grad;
  const Tensor images = pictures();
  const Tensor whole = model->forward(images);
  EXPECT_TRUE(torch::equal(logits_without(*model, images, {}), whole));
  const Tensor without_layer = logits_without(*model, images, {2, 1, true, false});
  EXPECT_FALSE(torch::equal(without_layer, whole));
  EXPECT_FALSE(torch::equal(logits_without(*model, images, {0, 0, true, false}), without_layer));
  EXPECT_FALSE(torch::equal(logits_without(*model, images, {0, 0, false, true}), whole));
  EXPECT_TRUE(torch::equal(model->forward(images), whole));
  // Without attention and value path they are those of a model that has neither.
  const auto other = pico({"attention=none", "value_path=off"});
  const auto tensors = model->named_parameters();
  for (auto& item : other->named_parameters()) item.value().copy_(tensors[item.key()]);
  const Tensor bare = logits_without(*model, images, {0, 0, true, true});
  EXPECT_LT(test::relative_error(bare, other->forward(images)), 1e-6);
}

TEST(LogitsWithout, ALayerThatIsNotThereAreRefused) {
  EXPECT_THAT(test::error_of([&] {
                logits_without(*pico({}), pictures(), {2, 9, true, false});
              }),
              testing::HasSubstr("no layer 9"));
}

class WatchedRun : public test::TrainerTest {};

TEST_F(WatchedRun, KeepsWhatItSawOfEveryEpoch) {
  const TrainOutcome outcome = test::train(test::little_run(folder_.path("run")));
  ASSERT_FALSE(outcome.rows.empty());
  for (const EpochRow& row : outcome.rows) EXPECT_EQ(row.health.size(), 4u);
  const Json json = to_json(outcome.rows.back());
  EXPECT_EQ(layer_health_from(json.at("health")[0]).share, outcome.rows.back().health[0].share);
}

TEST_F(WatchedRun, SaysNothingOfLayersThatWork) {
  TrainRequest request = test::little_run(folder_.path("awake"));
  request.settings.insert(request.settings.end(), {"kernel_scale=paper", "normalise=rows"});
  EXPECT_THAT(test::notices_of(request),
              testing::Not(testing::Contains(testing::HasSubstr("idles"))));
}

}  // namespace
}  // namespace soft
