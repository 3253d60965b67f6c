// Several processes of the real program train as one would.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>
#include <thread>

#include "train/little_run.h"

namespace soft {
namespace {

namespace fs = std::filesystem;
using test::run_soft;
using testing::HasSubstr;
using Words = std::vector<std::string>;

constexpr int kPictures = 16;  // of one step of all ranks

// One step an epoch, so that the log has the loss of every step.
Words little_run(const std::string& folder, int ranks, const Words& more, int epochs = 20) {
  Words words{"train",
              "--data",
              "shapes",
              "--model",
              "soft-nano",
              "--recipe",
              "small",
              "--seed",
              "3",
              "--threads",
              "1",
              "--limit-val",
              "33",
              "--out",
              folder,
              "--limit-train",
              std::to_string(kPictures),
              "--epochs",
              std::to_string(epochs)};
  for (const char* setting :
       {"dims=32,32,32,32", "heads=1,1,1,1", "depths=1,1,1,1", "stem_dim=8", "mix_probability=0",
        "drop_path=0", "warmup_epochs=1", "sync_bn=on"}) {
    words.insert(words.end(), {"--set", setting});
  }
  words.insert(words.end(), more.begin(), more.end());
  int parts = 1;
  for (const std::string& word : more) parts = word == "accumulate=2" ? 2 : parts;
  words.insert(words.end(), {"--batch", std::to_string(kPictures / ranks / parts)});
  return words;
}

Words launched(int ranks, Words words) {
  Words all{"launch", "-n", std::to_string(ranks), "--restarts", "0", "--"};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

void train_with(int ranks, const std::string& folder, const Words& more, int epochs = 20) {
  const Words words = little_run(folder, ranks, more, epochs);
  const auto outcome = run_soft(ranks == 1 ? words : launched(ranks, words));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
}

// A column of the log.
std::vector<double> column(const std::string& folder, int number) {
  std::istringstream log(test::read_file(folder + "/log.csv"));
  std::vector<double> values;
  std::string line, cell;
  std::getline(log, line);
  while (std::getline(log, line)) {
    std::istringstream cells(line);
    for (int i = 0; i <= number; ++i) std::getline(cells, cell, ',');
    values.push_back(std::stod(cell));
  }
  return values;
}

State state_of(const std::string& folder) { return *StateFolder(folder + "/state").load(); }

// After one step the optimizer's mean is the gradient times 1 - beta1. What has no gradient but
// rounding (the biases before a batch norm) is measured against the largest one of all.
void expect_same_gradients(const std::string& one, const std::string& many) {
  const State a = state_of(one), b = state_of(many);
  double largest = 0;
  for (const auto& [name, tensor] : a.tensors) {
    if (name.rfind("mean.", 0) == 0) largest = std::max(largest, tensor.abs().max().item<double>());
  }
  int compared = 0;
  for (const auto& [name, tensor] : a.tensors) {
    if (name.rfind("mean.", 0) != 0) continue;
    const double own = tensor.abs().max().item<double>();
    const double off = (tensor - b.tensors.at(name)).abs().max().item<double>();
    // Where a tensor's gradient is next to nothing, the rounding of all the others is larger.
    EXPECT_LT(off, 1e-5 * std::max(own, 1e-2 * largest)) << name << ", largest " << own;
    ++compared;
  }
  EXPECT_GT(compared, 1);
}

class DistributedTest : public testing::Test {
 protected:
  void expect_equal_to_one(const Words& settings) {
    train_with(1, folder_.path("step-1"), settings, 1);
    train_with(1, folder_.path("run-1"), settings);
    const auto losses = column(folder_.path("run-1"), 1);
    const auto validation = column(folder_.path("run-1"), 2);
    ASSERT_EQ(losses.size(), 20u);
    for (int ranks : {2, 4}) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks");
      const std::string step = folder_.path("step-" + std::to_string(ranks));
      const std::string run = folder_.path("run-" + std::to_string(ranks));
      train_with(ranks, step, settings, 1);
      expect_same_gradients(folder_.path("step-1"), step);
      EXPECT_EQ(column(step, 3), column(folder_.path("step-1"), 3));  // top-1, to the picture
      train_with(ranks, run, settings);
      const auto together = column(run, 1);
      ASSERT_EQ(together.size(), losses.size());
      for (size_t i = 0; i < losses.size(); ++i) {
        EXPECT_NEAR(together[i], losses[i], 1e-4) << "step " << i;
        EXPECT_NEAR(column(run, 2)[i], validation[i], 1e-3) << "step " << i;
      }
    }
  }

  test::TemporaryFolder folder_;
};

TEST_F(DistributedTest, RanksEqualOneWithAverageAndClipping) {
  expect_equal_to_one({"--set", "clip=0.05", "--set", "ema=on"});
}

TEST_F(DistributedTest, RanksEqualOneWithAccumulation) {
  expect_equal_to_one({"--set", "accumulate=2", "--set", "ema=off", "--set", "clip=0"});
}

TEST_F(DistributedTest, RanksEqualOneWithAFrozenBody) { expect_equal_to_one({"--freeze"}); }

TEST_F(DistributedTest, RanksMixAndDropAsOneWould) {
  const Words settings{"--set", "mix_probability=1", "--set", "mixup=0.8",
                       "--set", "drop_path=0.2"};
  train_with(1, folder_.path("one"), settings, 1);
  train_with(2, folder_.path("two"), settings, 1);
  expect_same_gradients(folder_.path("one"), folder_.path("two"));
}

TEST_F(DistributedTest, OneRankThroughGlooHasTheBitsOfOneAlone) {
  const Words settings{"--set", "accumulate=2", "--set", "drop_path=0.1", "--set", "sync_bn=off"};
  train_with(1, folder_.path("alone"), settings, 3);
  const auto outcome = run_soft(launched(1, little_run(folder_.path("gloo"), 1, settings, 3)));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(test::fingerprint(folder_.path("gloo")), test::fingerprint(folder_.path("alone")));
}

TEST_F(DistributedTest, HalfPrecisionOnTheWireStaysClose) {
  train_with(2, folder_.path("full"), {}, 3);
  train_with(2, folder_.path("half"), {"--set", "wire=fp16"}, 3);
  const auto full = column(folder_.path("full"), 1), half = column(folder_.path("half"), 1);
  EXPECT_NE(test::fingerprint(folder_.path("full")), test::fingerprint(folder_.path("half")));
  for (size_t i = 0; i < full.size(); ++i) EXPECT_NEAR(half[i], full[i], 0.02);
}

TEST_F(DistributedTest, RankZeroAlonePrints) {
  const auto outcome = run_soft(launched(2, little_run(folder_.path("run"), 2, {}, 1)));
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, testing::Not(HasSubstr("[rank 1]")));
  EXPECT_THAT(outcome.err, HasSubstr("2 ranks"));
  EXPECT_THAT(outcome.out, HasSubstr("images/s"));
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 2);
}

TEST_F(DistributedTest, NamesTheKeyAndTheRankThatDiffer) {
  const Words words = little_run(folder_.path("run"), 2, {"--group-timeout", "20"}, 1);
  std::string line = "export MASTER_ADDR=127.0.0.1 WORLD_SIZE=2 MASTER_PORT=";
  line += std::to_string(20'000 + ::getpid() % 20'000) + "; ";
  std::string command = SOFT_BINARY;
  for (const std::string& word : words) command += " " + word;
  line += "RANK=1 " + command + " --set clip=3 2>one.txt & RANK=0 " + command +
          " 2>zero.txt; echo $?; wait $!; echo $?";
  const auto outcome = test::run_shell(line, folder_.path());
  EXPECT_THAT(outcome.out, HasSubstr("1\n1\n"));
  for (const char* file : {"zero.txt", "one.txt"}) {
    EXPECT_THAT(test::read_file(folder_.path(file)),
                HasSubstr("rank 1 differs from rank 0 in recipe.clip"));
  }
  EXPECT_FALSE(fs::exists(folder_.path("run/recipe.json")));
}

// A program in the background.
struct Running {
  explicit Running(const Words& words, const std::string& err) {
    pid = fork();
    if (pid != 0) return;
    if (std::freopen(err.c_str(), "w", stderr) == nullptr) _exit(126);
    if (std::freopen("/dev/null", "w", stdout) == nullptr) _exit(126);
    std::vector<char*> arguments{const_cast<char*>(SOFT_BINARY)};
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execv(SOFT_BINARY, arguments.data());
    _exit(127);
  }
  // Whether it has ended; it can still be waited for.
  bool gone() const {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid != 0;
  }
  int wait() const {
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  pid_t pid;
};

TEST_F(DistributedTest, AStateOfTwoRanksGoesOnWithOneAndWithFour) {
  const std::string run = folder_.path("run");
  Words words = little_run(run, 2, {}, 40);
  const Running two(launched(2, words), folder_.path("err.txt"));
  while (!fs::exists(run + "/log.csv")) {
    ASSERT_FALSE(two.gone()) << test::read_file(folder_.path("err.txt"));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  kill(two.pid, SIGTERM);
  EXPECT_EQ(two.wait(), 1);
  EXPECT_THAT(test::read_file(folder_.path("err.txt")), HasSubstr("interrupted"));
  const int64_t before = state_of(run).position.step;
  ASSERT_LT(before, 40);
  fs::copy(run, folder_.path("copy"), fs::copy_options::recursive);
  const auto one = run_soft({"train", "--resume", run, "--threads", "1"});
  ASSERT_EQ(one.exit_code, 0) << one.err;
  const auto four =
      run_soft(launched(4, {"train", "--resume", folder_.path("copy"), "--threads", "1"}));
  ASSERT_EQ(four.exit_code, 0) << four.err;
  EXPECT_EQ(state_of(run).position.step, 40);
  const auto losses = column(run, 1), others = column(folder_.path("copy"), 1);
  ASSERT_EQ(losses.size(), 40u);
  ASSERT_EQ(others.size(), 40u);
  for (size_t i = 0; i < static_cast<size_t>(before) + 5 && i < 40; ++i) {
    EXPECT_NEAR(others[i], losses[i], 1e-3) << i;
  }
}

}  // namespace
}  // namespace soft
