// A training run that is stopped, killed, frozen or doubled.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>

#include "support/support.h"

namespace soft {
namespace {

namespace fs = std::filesystem;
using test::run_soft;
using testing::HasSubstr;

#if SOFT_WITH_TORCH

// Long enough to be met in the middle.
const char* const kOptions =
    " --data shapes --model soft-nano --recipe small --set dims=32,32,32,32 --set heads=1,1,1,1"
    " --epochs 400 --batch 16 --limit-train 64 --limit-val 32 --threads 1 --save-steps 1";

// `soft train` in a process of its own, its stderr in a file.
class TrainingProcess {
 public:
  // `hangup`: what SIGHUP means to it at first; SIG_IGN under nohup.
  TrainingProcess(const std::string& options, std::string log, sighandler_t hangup = SIG_DFL)
      : log_(std::move(log)) {
    pid_ = fork();
    if (pid_ != 0) return;
    ::signal(SIGHUP, hangup);
    const std::string line = "exec " SOFT_BINARY " train" + options + " >/dev/null 2>" + log_;
    execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    _exit(127);
  }
  ~TrainingProcess() {
    if (pid_ > 0) signal_and_wait(SIGKILL);
  }
  TrainingProcess(const TrainingProcess&) = delete;
  TrainingProcess& operator=(const TrainingProcess&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const { kill(pid_, number); }
  int signal_and_wait(int number) {
    int status = 0;
    signal(number);
    waitpid(std::exchange(pid_, 0), &status, 0);
    return status;
  }
  std::string err() const { return test::read_file(log_); }

 private:
  std::string log_;
  pid_t pid_ = 0;
};

int states_in(const std::string& folder) {
  std::error_code none;
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder + "/state", none)) {
    count += entry.path().extension() == ".safetensors" ? 1 : 0;
  }
  return count;
}

void wait_for_states(const std::string& folder) {
  for (int i = 0; i < 6000; ++i) {
    if (states_in(folder) >= 2) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  FAIL() << "no states in two minutes";
}

// How many threads of the process take the signal.
int listeners_of(pid_t pid, int number) {
  int count = 0;
  for (const auto& task : fs::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
    const std::string status = test::read_file(task.path().string() + "/status");
    const auto blocked = std::stoull(status.substr(status.find("SigBlk:") + 7), nullptr, 16);
    count += ((blocked >> (number - 1)) & 1) == 0 ? 1 : 0;
  }
  return count;
}

class Ending : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Signals, Ending, testing::Values(SIGINT, SIGTERM, SIGHUP));

TEST_P(Ending, SavesAndLeavesWithTheWayToGoOn) {
  const test::TemporaryFolder folder;
  const std::string run = folder.path("run");
  TrainingProcess process(kOptions + (" --out " + run), folder.path("err"));
  wait_for_states(run);
  const int status = process.signal_and_wait(GetParam());
  ASSERT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_THAT(process.err(), HasSubstr("interrupted; `soft train --resume " + run));
  const auto dry = run_soft({"train", "--resume", run, "--dry-run"});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
}

TEST_P(Ending, OneThreadListensAndNoneThatComputesIsInterrupted) {
  const test::TemporaryFolder folder;
  const std::string run = folder.path("run");
  const TrainingProcess process(kOptions + (" --out " + run), folder.path("err"));
  wait_for_states(run);
  EXPECT_EQ(listeners_of(process.pid(), GetParam()), 1);
}

TEST(Ending, ASecondSignalEndsATrainingRunAtOnce) {
  const test::TemporaryFolder folder;
  const std::string run = folder.path("run");
  TrainingProcess process(kOptions + (" --out " + run), folder.path("err"));
  wait_for_states(run);
  process.signal(SIGSTOP);  // so that both have come before it goes on
  process.signal(SIGINT);
  process.signal(SIGTERM);
  const int status = process.signal_and_wait(SIGCONT);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGTERM);
}

TEST(Nohup, KeepsATrainingRunGoingWhenItsTerminalGoes) {
  const test::TemporaryFolder folder;
  const std::string run = folder.path("run");
  TrainingProcess process(kOptions + (" --out " + run), folder.path("err"), SIG_IGN);
  wait_for_states(run);
  process.signal(SIGHUP);
  std::this_thread::sleep_for(std::chrono::seconds(2));  // many steps
  EXPECT_EQ(waitpid(process.pid(), nullptr, WNOHANG), 0) << process.err();
  EXPECT_TRUE(WIFEXITED(process.signal_and_wait(SIGTERM)));
  EXPECT_THAT(process.err(), HasSubstr("interrupted"));
}

TEST(BrokenPipe, EndsATrainingRunWithItsStateSaved) {
  const test::TemporaryFolder folder;
  const std::string run = folder.path("run");
  const auto outcome =
      test::run_shell("( " SOFT_BINARY " train" + std::string(kOptions) + " --save-steps 0 --out " +
                      run + "; echo $? >" + folder.path("code") + " ) | head -1");
  EXPECT_THAT(outcome.out, HasSubstr("train loss"));
  EXPECT_EQ(test::read_file(folder.path("code")), "1\n");
  EXPECT_THAT(outcome.err, HasSubstr("interrupted"));
  EXPECT_GE(states_in(run), 1);
}

TEST(RunLock, RefusesASecondProcessByTheNameOfTheFirstUntilThatOneIsDead) {
  const test::TemporaryFolder folder;
  const std::string run = folder.path("run");
  TrainingProcess first(kOptions + (" --out " + run), folder.path("err"));
  wait_for_states(run);
  first.signal(SIGSTOP);
  const std::vector<std::string> again{"train", "--resume", run, "--threads",
                                       "1",     "--epochs", "1", "--allow-change"};
  const auto refused = run_soft(again);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("process " + std::to_string(first.pid()) + " on '"));
  first.signal(SIGCONT);
  first.signal_and_wait(SIGKILL);
  const auto resumed = run_soft(again);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
}

TEST(Train, SaysThatAFolderNameIsTooLong) {
  const auto outcome = run_soft({"train", "--data", "shapes", "--model", "soft-pico", "--epochs",
                                 "1", "--out", std::string(300, 'x')});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("File name too long"));
}

#endif

}  // namespace
}  // namespace soft
