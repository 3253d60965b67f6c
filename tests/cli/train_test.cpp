// The main job through the real program: train, evaluate, classify, be killed, go on.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>
#include <thread>

#include "base/json.h"
#include "support/support.h"

namespace soft {
namespace {

namespace fs = std::filesystem;
using test::run_soft;
using testing::HasSubstr;

#if SOFT_WITH_TORCH

std::vector<std::string> little_run(const std::string& folder) {
  return {"train",
          "--data",
          "shapes",
          "--model",
          "soft-nano",
          "--recipe",
          "small",
          "--set",
          "dims=32,32,32,32",
          "--set",
          "heads=1,1,1,1",
          "--epochs",
          "2",
          "--batch",
          "16",
          "--limit-train",
          "64",
          "--limit-val",
          "32",
          "--threads",
          "1",
          "--save-steps",
          "1",
          "--out",
          folder};
}

std::vector<std::string> with(std::vector<std::string> arguments,
                              const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Weights, EMA, optimizer and generator of the newest state.
std::string fingerprint(const std::string& folder) {
  std::string newest;
  for (const auto& entry : fs::directory_iterator(folder + "/state")) {
    newest = std::max(newest, entry.path().string());
  }
  const std::string bytes = test::read_file(newest);
  const size_t at = bytes.find("tensors_sha256");
  return at == std::string::npos ? "" : bytes.substr(at, 90);
}

// Starts a run and kills it with SIGKILL after so many milliseconds.
void run_and_kill(const std::vector<std::string>& arguments, int milliseconds) {
  std::vector<const char*> argv{SOFT_BINARY};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    if (freopen("/dev/null", "w", stdout) == nullptr) _exit(126);
    if (freopen("/dev/null", "w", stderr) == nullptr) _exit(126);
    execv(argv[0], const_cast<char* const*>(argv.data()));
    _exit(127);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(Train, PrintsItsLastEpochAsJsonAndWritesWhatEvalAndClassifyRead) {
  const test::TemporaryFolder folder;
  const auto trained = run_soft(with(little_run(folder.path("run")), {"--json"}));
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const Json row = Json::parse(trained.out);
  EXPECT_EQ(row["epoch"], 2);
  for (const char* key : {"train_loss", "val_loss", "top1", "top5", "images_per_second"}) {
    EXPECT_TRUE(row[key].is_number()) << key;
  }
  const std::string weights = folder.path("run/best.safetensors");
  const auto evaluated = run_soft({"eval", "--data", "shapes", "--limit-val", "32", "--weights",
                                   weights, "--json", "--predictions", folder.path("answers.csv")});
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  EXPECT_EQ(Json::parse(evaluated.out)["images"], 32);
  EXPECT_TRUE(fs::exists(folder.path("answers.csv")));
  const std::string photo = std::string(SOFT_SOURCE_DIR) + "/data/photos/cat_chelsea.png";
  test::write_file(folder.path("broken.jpg"), "not a picture");
  const auto classified =
      run_soft({"classify", "--weights", weights, "--json", photo, folder.path("broken.jpg")});
  EXPECT_EQ(classified.exit_code, 1);
  const Json answers = Json::parse(classified.out);
  EXPECT_EQ(answers[0]["top"].size(), 5);
  EXPECT_TRUE(answers[1].contains("error"));
}

TEST(Train, KilledAtAnyMomentAndResumedEndsWithTheSameBits) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(run_soft(little_run(folder.path("whole"))).exit_code, 0);
  for (int milliseconds : {900, 1400, 2000}) {
    const std::string cut = folder.path("cut" + std::to_string(milliseconds));
    run_and_kill(little_run(cut), milliseconds);
    const bool begun = fs::exists(cut + "/recipe.json");
    const auto resumed =
        run_soft(begun ? std::vector<std::string>{"train", "--resume", cut, "--threads", "1"}
                       : little_run(cut));
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    EXPECT_EQ(fingerprint(cut), fingerprint(folder.path("whole"))) << milliseconds;
  }
}

TEST(Train, SaysWhatItWouldDoAndLeaves) {
  const test::TemporaryFolder folder;
  const auto outcome = run_soft(with(little_run(folder.path("run")), {"--dry-run", "--json"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(Json::parse(outcome.out)["steps"], 8);
  EXPECT_FALSE(fs::exists(folder.path("run")));
}

TEST(Train, StrictTakesEveryFileOfAFolderForAPicture) {
  const test::TemporaryFolder folder;
  for (const std::string name : {"a", "b"}) {
    fs::create_directories(folder.path("pets/" + name));
    for (int i = 0; i < 20; ++i) {
      fs::copy_file(SOFT_SOURCE_DIR "/data/photos/cat_chelsea.png",
                    folder.path(fmt::format("pets/{}/{}.png", name, i)));
    }
    test::write_file(folder.path("pets/" + name + "/notes.txt"), "no picture");
  }
  const auto images = [&](const std::vector<std::string>& flags) {
    const auto outcome = run_soft(with({"train", "--data", "folder:" + folder.path("pets"),
                                        "--model", "soft-pico", "--dry-run", "--json"},
                                       flags));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const Json plan = Json::parse(outcome.out);
    return plan.at("train_images").get<int>() + plan.at("val_images").get<int>();
  };
  EXPECT_EQ(images({}), 40);
  EXPECT_EQ(images({"--strict"}), 42);
}

TEST(Train, TellsPeopleItsPlanWithTimeAndMemoryInLinesOf80Columns) {
  const test::TemporaryFolder folder;
  const auto outcome = run_soft({"train", "--data", "shapes", "--model", "soft-pico", "--epochs",
                                 "10", "--limit-train", "500", "--limit-val", "40", "--dry-run"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* part :
       {"500 to train on", "fitted, chosen because", "310 steps", "time ", "memory "}) {
    EXPECT_THAT(outcome.out, HasSubstr(part));
  }
  for (const std::string& line : lines_of(outcome.out)) EXPECT_LE(line.size(), 80u) << line;
}

TEST(Train, ListsEverySettingWithItsValueAndMeaning) {
  const auto listed = run_soft(
      {"train", "--list-settings", "--model", "soft-nano", "--recipe", "small", "--set", "clip=3"});
  ASSERT_EQ(listed.exit_code, 0) << listed.err;
  for (const char* part :
       {"of the model\n", "of the recipe\n", "  clip=3  ", "  ema_decay=0.998 "}) {
    EXPECT_THAT(listed.out, HasSubstr(part));
  }
  for (const std::string& line : lines_of(listed.out)) EXPECT_LE(line.size(), 80u) << line;
}

TEST(Train, WithoutAFolderWritesToANewOneBelowRuns) {
  const test::TemporaryFolder folder;
  std::string line = SOFT_BINARY;
  for (const std::string& argument : little_run("")) {
    if (!argument.empty() && argument != "--out") line += " " + argument;
  }
  for (const char* made : {"runs/soft-nano-shapes", "runs/soft-nano-shapes-2"}) {
    const auto trained = test::run_shell(line, folder.path());
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
    EXPECT_THAT(trained.err, HasSubstr(made));
    EXPECT_TRUE(fs::exists(folder.path(made) + "/best.safetensors"));
  }
}

TEST(Train, RefusesWhatItDoesNotKnowBeforeAnythingIsWritten) {
  const test::TemporaryFolder folder;
  const auto refused = [&](const std::vector<std::string>& more, int code, const char* why) {
    const auto outcome = run_soft(with(little_run(folder.path("run")), more));
    EXPECT_EQ(outcome.exit_code, code) << why;
    EXPECT_THAT(outcome.err, HasSubstr(why));
    EXPECT_FALSE(fs::exists(folder.path("run"))) << why;
  };
  refused({"--set", "emma=off"}, 2, "did you mean 'ema'");
  refused({"--set", "warmup=1"}, 2, "'warmup_epochs'");
  refused({"--set", "warmup=1"}, 2, "`soft train --list-settings` lists all of them");
  refused({"--recipe", "released", "--batch", "16"}, 2, "--set ema_warmup=on");
  refused({"--val-fraction", "1"}, 2, "[0, 1)");
  refused({"--recipe", "smal"}, 2, "did you mean 'small'");
  refused({"--data", "folder:" + folder.path("nowhere")}, 1, "nowhere");
  refused({"--batch", "1000"}, 2, "larger than the 64 training pictures");
  refused({"--init", folder.path("none.safetensors")}, 1, "none.safetensors");
  refused({"--lr", "nan"}, 2, "--lr: 'nan' is not a finite number");
  refused({"--save-minutes", "nan"}, 2, "finite number");
  refused({"--seed", "-1"}, 2, "whole number");
  refused({"--set", "beta1=2"}, 2, "beta1=2");
  refused({"--set", "classes=3"}, 2, "the data decide on classes");
}

TEST(Train, DoesNotStartASecondRunInTheSameFolder) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(run_soft(little_run(folder.path("run"))).exit_code, 0);
  const std::string before = test::read_file(folder.path("run/best.safetensors"));
  const auto again = run_soft(with(little_run(folder.path("run")), {"--seed", "7"}));
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, HasSubstr("holds a run already; `soft train --resume"));
  EXPECT_EQ(test::read_file(folder.path("run/best.safetensors")), before);
}

TEST(Train, AFullOrReadOnlyDiskIsAClearErrorAndTheOldStateSurvives) {
  const auto outcome = run_soft(little_run("/proc/soft-run"));  // nobody can write there
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("cannot make the folder"));
}

TEST(Eval, RefusesWeightsForAnotherNumberOfClasses) {
  const auto outcome = run_soft({"eval", "--data", "shapes", "--limit-val", "8", "--weights",
                                 test::golden("mini.safetensors"), "--set", "classes=7"});
  EXPECT_NE(outcome.exit_code, 0);
}

#endif

}  // namespace
}  // namespace soft
