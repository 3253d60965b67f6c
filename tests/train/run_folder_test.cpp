// What a run leaves in its folder agrees with itself and is never lost.
#include <filesystem>
#include <map>

#include "base/error.h"
#include "train/little_run.h"
#include "train/trainer.h"

namespace soft {
namespace {

namespace fs = std::filesystem;

using test::fingerprint;
using test::little_run;
using test::notices_of;
using test::resume;
using test::train;
using test::train_until;
using RunFolder = test::TrainerTest;

// As if killed between the last state and the files that follow from it.
TEST_F(RunFolder, ResumingAFinishedRunMakesLogAndWeightsAgreeWithItsState) {
  const std::string folder = folder_.path("run");
  train(little_run(folder));
  std::map<std::string, std::string> whole;
  for (const char* file : {"/last.safetensors", "/best.safetensors", "/log.csv"}) {
    whole[file] = test::read_file(folder + file);
  }
  const Card card = card_of(read_weights(folder + "/best.safetensors"));
  const bool best_is_last = card.extra["epoch"] == 2;
  const std::string& log = whole["/log.csv"];
  test::write_file(folder + "/log.csv", log.substr(0, log.rfind("\n2,") + 1));
  test::write_file(folder + "/last.safetensors", "");
  if (best_is_last) fs::remove(folder + "/best.safetensors");
  EXPECT_EQ(resume(folder).rows.size(), 2);
  for (const auto& [file, bytes] : whole) EXPECT_EQ(test::read_file(folder + file), bytes) << file;
}

TEST_F(RunFolder, AStopInTheMiddleOfAnEvaluationLosesNoStep) {
  train(little_run(folder_.path("whole")));
  int asked = 0;  // after each of the four steps, then before each batch that is evaluated
  TrainEvents events;
  events.should_stop = [&] { return ++asked >= 5; };
  EXPECT_TRUE(train(little_run(folder_.path("cut")), events).interrupted);
  const Position at = StateFolder(folder_.path("cut/state")).load()->position;
  EXPECT_EQ(at.step, 4);
  EXPECT_EQ(at.batch, 4);
  EXPECT_TRUE(at.rows.empty());
  resume(folder_.path("cut"));
  EXPECT_EQ(fingerprint(folder_.path("cut")), fingerprint(folder_.path("whole")));
  EXPECT_EQ(test::read_file(folder_.path("cut/best.safetensors")),
            test::read_file(folder_.path("whole/best.safetensors")));
}

TEST_F(RunFolder, RefusesToResumeWhatHasNoStateButSomethingToLose) {
  const std::string folder = folder_.path("run");
  train(little_run(folder));
  const std::string best = test::read_file(folder + "/best.safetensors");
  const auto refused = [&](const char* what) {
    EXPECT_THAT(test::error_of([&] { resume(folder); }),
                testing::AllOf(testing::HasSubstr("no readable state"), testing::HasSubstr(what),
                               testing::HasSubstr("--restart")));
    EXPECT_EQ(test::read_file(folder + "/best.safetensors"), best);
  };
  for (const auto& entry : fs::directory_iterator(folder + "/state")) {
    test::write_file(entry.path().string(), "no state");
  }
  refused("state");
  fs::remove_all(folder + "/state");
  refused("last.safetensors, best.safetensors, log.csv");
}

TEST_F(RunFolder, ARunKilledBeforeItsFirstStateBeginsAgain) {
  const std::string folder = folder_.path("run");
  train_until(little_run(folder), 1);
  fs::remove_all(folder + "/state");
  fs::create_directory(folder + "/state");
  test::write_file(folder + "/state/.soft-tmp-1", "half of the first state");
  EXPECT_EQ(resume(folder).rows.size(), 2);
}

TEST_F(RunFolder, RefusesAFolderWithTheRestOfARunAndMovesItAsideWhenTold) {
  const std::string folder = folder_.path("run");
  for (const char* file : {"best.safetensors", "log.csv", "recipe.json"}) {
    fs::remove_all(folder);
    fs::create_directory(folder);
    test::write_file(folder + "/" + file, "precious");
    EXPECT_THAT(
        test::error_of([&] { train(little_run(folder)); }),
        testing::AllOf(testing::HasSubstr("holds a run already"), testing::HasSubstr(file)));
    EXPECT_EQ(test::read_file(folder + "/" + file), "precious");
  }
  TrainRequest request = little_run(folder);
  request.restart = true;
  EXPECT_THAT(notices_of(request), testing::Contains(testing::HasSubstr("before-1")));
  EXPECT_EQ(test::read_file(folder + "/before-1/recipe.json"), "precious");
  EXPECT_EQ(read_run_file(folder + "/recipe.json").data, "shapes");
}

TEST_F(RunFolder, ARunThatLostItsLockStopsBeforeItWrites) {
  const std::string folder = folder_.path("run");
  int done = 0;
  TrainEvents events;
  events.step = [&](const StepReport&) {
    if (++done != 2) return;
    fs::remove(folder + "/run.lock");
    test::write_file(folder + "/run.lock", "");
  };
  EXPECT_THAT(test::error_of([&] { train(little_run(folder), events); }),
              testing::HasSubstr("no longer this run's"));
  EXPECT_EQ(done, 4);  // the first epoch's state would have been written then
  EXPECT_EQ(StateFolder(folder + "/state").newest(), "");
  EXPECT_FALSE(fs::exists(folder + "/last.safetensors"));
}

TEST_F(RunFolder, RefusesClassesAndPicturesThatChangedSinceTheStart) {
  const std::string data = folder_.path("pictures"), folder = folder_.path("run");
  for (const char* name : {"cat", "dog"}) {
    fs::create_directories(data + "/" + name);
    for (int i = 0; i < 20; ++i) {
      fs::copy(test::photo("cat_chelsea.png"), fmt::format("{}/{}/{:02}.png", data, name, i));
    }
  }
  TrainRequest request = little_run(folder);
  request.data = "folder:" + data;
  train_until(request, 1);
  fs::rename(data + "/dog", data + "/ape");
  EXPECT_THAT(test::error_of([&] { resume(folder); }), testing::HasSubstr("gone 'dog', new 'ape'"));
  fs::rename(data + "/ape", data + "/dog");
  fs::create_directory(data + "/emu");
  fs::copy(data + "/dog/00.png", data + "/emu/00.png");
  EXPECT_THAT(test::error_of([&] { resume(folder); }), testing::HasSubstr("gone none, new 'emu'"));
  fs::remove_all(data + "/emu");
  fs::rename(data + "/dog/00.png", data + "/dog/90.png");
  EXPECT_THAT(test::error_of([&] { resume(folder); }), testing::HasSubstr("--allow-change"));
  fs::rename(data + "/dog/90.png", data + "/dog/00.png");
  EXPECT_EQ(resume(folder).rows.size(), 2);
}

TEST_F(RunFolder, RefusesAFolderThatHoldsARun) {
  train_until(little_run(folder_.path("run")), 2);
  const std::string before = fingerprint(folder_.path("run"));
  const std::string message = test::error_of([&] { train(little_run(folder_.path("run"))); });
  EXPECT_THAT(message, testing::HasSubstr("holds a run already; `soft train --resume"));
  EXPECT_EQ(fingerprint(folder_.path("run")), before);
}

TEST_F(RunFolder, LeavesNothingBehindWhenTheDataIsMissing) {
  TrainRequest request = little_run(folder_.path("run"));
  request.data = "folder:" + folder_.path("nowhere");
  test::error_of([&] { train(request); });
  EXPECT_FALSE(fs::exists(folder_.path("run")));
}

}  // namespace
}  // namespace soft
