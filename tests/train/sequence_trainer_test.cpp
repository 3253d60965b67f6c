#include "train/sequence_trainer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "attention/torch.h"
#include "base/error.h"
#include "base/file.h"
#include "model/checkpoint.h"
#include "support/support.h"
#include "train/one_cycle.h"
#include "weights/sequence_card.h"

namespace soft {
namespace {

using testing::HasSubstr;

// Texts of one letter, which is their class: a mean over positions cannot miss it.
void write_texts(const test::TemporaryFolder& folder) {
  std::string lines;
  for (int i = 0; i < 80; ++i) {
    const char letter = i % 2 == 0 ? 'a' : 'z';
    lines += fmt::format("{}\t{}\n", letter, std::string(600 + i % 13, letter));
  }
  test::write_file(folder.path("texts.tsv"), lines);
}

SequenceTrainRequest little_request(const test::TemporaryFolder& folder, const std::string& out) {
  SequenceTrainRequest request;
  request.task = "text";
  request.data = "tsv:" + folder.path("texts.tsv");
  request.steps = 30;
  request.batch = 8;
  request.eval_every = 10;
  request.lr = 3e-3;
  request.out = folder.path(out);
  return request;
}

TEST(OneCycle, RisesToItsPeakAndFallsToNearlyNothing) {
  const OneCycle cycle{1e-4, 1000, 5000};
  EXPECT_NEAR(pace_at(cycle, 0).lr, 4e-6, 1e-12);
  EXPECT_NEAR(pace_at(cycle, 0).beta1, 0.95, 1e-12);
  EXPECT_NEAR(pace_at(cycle, 999).lr, 1e-4, 1e-12);
  EXPECT_NEAR(pace_at(cycle, 999).beta1, 0.85, 1e-12);
  EXPECT_NEAR(pace_at(cycle, 4999).lr, 4e-10, 1e-15);
  EXPECT_NEAR(pace_at(cycle, 4999).beta1, 0.95, 1e-12);
  EXPECT_NEAR(pace_at(cycle, 2999).lr, 0.5 * (1e-4 + 4e-10), 1e-10);
  EXPECT_LT(pace_at(cycle, 500).lr, pace_at(cycle, 501).lr);
  EXPECT_GT(pace_at(cycle, 3000).lr, pace_at(cycle, 3001).lr);
}

TEST(OneCycle, OfOneStepIsDefined) {
  EXPECT_NEAR(pace_at({1e-4, 1, 1}, 0).lr, 1e-4, 1e-12);
  EXPECT_NEAR(pace_at({1e-4, 1, 2}, 1).lr, 4e-10, 1e-15);
}

TEST(SequenceRun, SaysWhatItDeviatesIn) {
  SequenceTrainRequest request;
  request.task = "listops";
  request.data = "somewhere";
  request.model.form = "softmax";
  SequenceRun run = make_run(request);
  EXPECT_THAT(deviations_of(run), testing::IsEmpty());
  EXPECT_EQ(run.data, "listops:somewhere");
  request.steps = 1000;
  request.model.form = "soft";
  run = make_run(request);
  EXPECT_EQ(run.cycle.warmup, 200);
  EXPECT_THAT(deviations_of(run),
              testing::ElementsAre("steps 1000 instead of 5000", "warm-up 200 instead of 1000",
                                   "landmark window 32 instead of 4"));
  request.model.landmarks = "pool4";
  request.steps.reset();
  EXPECT_THAT(deviations_of(make_run(request)), testing::IsEmpty());
  request.model.landmarks = "60";
  EXPECT_THAT(test::error_of([&] { make_run(request); }), HasSubstr("a number that divides 2048"));
  request.task = "listop";
  EXPECT_THAT(test::error_of([&] { make_run(request); }), HasSubstr("did you mean 'listops'"));
}

TEST(SequenceTrainer, LearnsTellsAndStoresEverything) {
  const test::TemporaryFolder folder;
  write_texts(folder);
  const SequenceTrainRequest request = little_request(folder, "run");
  std::vector<EpochRow> rows;
  SequenceEvents events;
  events.row = [&](const EpochRow& row) { rows.push_back(row); };
  const SequenceOutcome outcome = SequenceTrainer(request, events).run();
  ASSERT_FALSE(outcome.interrupted);
  EXPECT_EQ(rows.size(), 3u);
  EXPECT_GE(outcome.result.at("test_accuracy").get<double>(), 75);
  EXPECT_EQ(outcome.result.at("best_constant"), 50);
  EXPECT_EQ(outcome.result.at("test_is_dev"), true);
  const Json stored = parse_json(read_text(folder.path("run/result.json")), "result");
  EXPECT_EQ(stored, outcome.result);
  EXPECT_FALSE(stored.at("run").at("deviations").empty());
  const Weights weights = read_weights(folder.path("run/best.safetensors"));
  EXPECT_TRUE(is_sequence_file(weights.path));
  const SequenceCard card = sequence_card(weights);
  EXPECT_THAT(card.classes, testing::ElementsAre("a", "z"));
  SequenceModel model(card.spec);
  load_weights(model, weights);
}

// The same files, byte by byte, whether a run was stopped at any step and resumed or not.
TEST(SequenceTrainer, ResumesBitForBit) {
  const test::TemporaryFolder folder;
  write_texts(folder);
  SequenceTrainer(little_request(folder, "whole"), {}).run();
  for (int stop_at : {1, 7, 10, 29}) {
    SequenceTrainRequest request = little_request(folder, "parts" + std::to_string(stop_at));
    int64_t seen = 0;
    SequenceEvents events;
    events.step = [&](int64_t step, int64_t, double, double) { seen = step; };
    events.should_stop = [&] { return seen >= stop_at; };
    EXPECT_TRUE(SequenceTrainer(request, events).run().interrupted);
    request = {};
    request.out = folder.path("parts" + std::to_string(stop_at));
    request.resume = true;
    EXPECT_FALSE(SequenceTrainer(request, {}).run().interrupted);
    const auto tensors = [&](const std::string& run) {
      const Weights weights = read_weights(folder.path(run + "/best.safetensors"));
      std::map<std::string, std::vector<float>> values;
      for (const auto& [name, view] : weights.tensors) values[name] = to_floats(view);
      return values;
    };
    EXPECT_EQ(tensors("whole"), tensors("parts" + std::to_string(stop_at))) << stop_at;
  }
}

TEST(SequenceTrainer, RefusesAUsedFolderAndAnythingThatIsNoRun) {
  const test::TemporaryFolder folder;
  write_texts(folder);
  SequenceTrainRequest request = little_request(folder, "run");
  request.steps = 1;
  SequenceTrainer(request, {}).run();
  EXPECT_THAT(test::error_of([&] { SequenceTrainer(request, {}).run(); }),
              HasSubstr("holds a run already"));
  request = {};
  request.out = folder.path("none");
  request.resume = true;
  EXPECT_NE(test::error_of([&] { SequenceTrainer(request, {}).run(); }), "");
  std::filesystem::create_directories(folder.path("none"));
  test::write_file(folder.path("none/recipe.json"), "{}");
  EXPECT_THAT(test::error_of([&] { SequenceTrainer(request, {}).run(); }),
              HasSubstr("no run of `soft lra train`"));
}

// As attacks 1 and 5 did with runs of pictures.
class SequenceFolder : public testing::Test {
 protected:
  SequenceFolder() {
    write_texts(folder_);
    SequenceTrainRequest request = little_request(folder_, "run");
    request.steps = 2;
    request.eval_every = 1;
    SequenceTrainer(request, {}).run();
  }
  SequenceOutcome resume() const {
    SequenceTrainRequest request;
    request.out = run_;
    request.resume = true;
    return SequenceTrainer(request, {}).run();
  }
  std::string refusal() const {
    return test::error_of([&] { resume(); });
  }

  test::TemporaryFolder folder_;
  const std::string run_ = folder_.path("run");
};

TEST_F(SequenceFolder, RefusesToResumeWhatHasNoStateButSomethingToLose) {
  const std::string best = test::read_file(run_ + "/best.safetensors");
  const auto refused = [&] {
    EXPECT_THAT(refusal(), testing::AllOf(HasSubstr("no readable state"), HasSubstr("result.json"),
                                          HasSubstr("`soft lra train --restart")));
    EXPECT_EQ(test::read_file(run_ + "/best.safetensors"), best);
  };
  for (const auto& entry : std::filesystem::directory_iterator(run_ + "/state")) {
    test::write_file(entry.path().string(), "no state");
  }
  refused();
  std::filesystem::remove_all(run_ + "/state");
  refused();
}

TEST_F(SequenceFolder, MakesLogAndWeightsAgreeWithTheState) {
  std::map<std::string, std::string> whole;
  for (const char* file : {"/best.safetensors", "/log.csv"}) {
    whole[file] = test::read_file(run_ + file);
  }
  const Json card =
      Json::parse(read_weights(run_ + "/best.safetensors").metadata.at(std::string(kSequenceKey)));
  test::write_file(run_ + "/log.csv", "step\nforeign,row\n");
  if (card.at("step") == 2) std::filesystem::remove(run_ + "/best.safetensors");
  std::filesystem::remove(run_ + "/result.json");
  EXPECT_FALSE(resume().interrupted);
  for (const auto& [file, bytes] : whole) EXPECT_EQ(test::read_file(run_ + file), bytes) << file;
}

TEST_F(SequenceFolder, RefusesOtherClassesAndOtherExamples) {
  const std::string texts = test::read_file(folder_.path("texts.tsv"));
  std::string renamed = texts;
  for (size_t at = 0; at < renamed.size(); at = renamed.find('\n', at) + 1) {
    if (renamed[at] == 'a') renamed[at] = 'b';
  }
  test::write_file(folder_.path("texts.tsv"), renamed);
  EXPECT_THAT(refusal(), HasSubstr("gone 'a', new 'b'"));
  std::string swapped = texts;
  swapped[0] = 'z';
  test::write_file(folder_.path("texts.tsv"), swapped);
  EXPECT_THAT(refusal(), HasSubstr("are not those this run began with"));
  test::write_file(folder_.path("texts.tsv"), texts);
  EXPECT_NO_THROW(resume());
}

TEST_F(SequenceFolder, RefusesNumbersThatCannotBe) {
  const Json good = parse_json(read_text(run_ + "/recipe.json"), "recipe");
  for (const char* key : {"eval_every", "batch", "steps", "cut"}) {
    Json bad = good;
    bad[key] = 0;
    test::write_file(run_ + "/recipe.json", bad.dump());
    EXPECT_THAT(refusal(), HasSubstr("it needs at least 1")) << key;
  }
  Json bad = good;
  bad["cut"] = int64_t{1} << 40;
  test::write_file(run_ + "/recipe.json", bad.dump());
  EXPECT_THAT(refusal(), HasSubstr("for a model of"));
}

TEST_F(SequenceFolder, RestartMovesARunAside) {
  const std::string best = test::read_file(run_ + "/best.safetensors");
  SequenceTrainRequest request = little_request(folder_, "run");
  request.steps = 1;
  request.restart = true;
  EXPECT_FALSE(SequenceTrainer(request, {}).run().interrupted);
  EXPECT_EQ(test::read_file(run_ + "/before-1/best.safetensors"), best);
  EXPECT_TRUE(std::filesystem::exists(run_ + "/before-1/result.json"));
}

}  // namespace
}  // namespace soft
