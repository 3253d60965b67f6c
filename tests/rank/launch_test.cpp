#include "rank/launch.h"

#include <filesystem>

#include "support/support.h"

namespace soft {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Ranks that are a line of shell.
class Shell {
 public:
  LaunchRequest request;
  std::vector<std::string> lines, notices;

  explicit Shell(const std::string& line, int ranks = 2) {
    request.ranks = ranks;
    request.restarts = 0;
    request.program = "/bin/sh";
    request.arguments = [line](int) { return std::vector<std::string>{"-c", line}; };
  }
  LaunchOutcome run() {
    LaunchEvents events;
    events.line = [&](int rank, bool error, const std::string& line) {
      lines.push_back(std::to_string(rank) + (error ? " err " : " out ") + line);
    };
    events.notice = [&](const std::string& text) { notices.push_back(text); };
    return launch(request, events);
  }
};

TEST(Launch, GivesEachRankItsPlace) {
  Shell shell("echo $RANK of $WORLD_SIZE, $LOCAL_RANK here, $MASTER_ADDR");
  shell.request.nodes = 3;
  shell.request.node = 1;
  shell.request.master = "m";
  shell.request.port = 7;
  EXPECT_EQ(shell.run().code, 0);
  EXPECT_THAT(shell.lines,
              testing::UnorderedElementsAre("2 out 2 of 6, 0 here, m", "3 out 3 of 6, 1 here, m"));
}

TEST(Launch, JoinsBothStreamsAndTheLastLineWithoutAnEnd) {
  Shell shell("echo a; echo b >&2; printf c", 1);
  EXPECT_EQ(shell.run().code, 0);
  EXPECT_THAT(shell.lines, testing::UnorderedElementsAre("0 out a", "0 err b", "0 out c"));
}

TEST(Launch, GivesUpWithTheErrorOfTheFirstRankThatFailed) {
  Shell shell("[ $RANK = 0 ] && exec sleep 20; echo why >&2; exit 1");
  shell.request.restarts = 0;
  const LaunchOutcome outcome = shell.run();
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.why, "rank 1 ended with code 1: why");
}

TEST(Launch, AKilledRankIsTheReasonRatherThanThoseThatLeaveBecauseOfIt) {
  Shell shell("[ $RANK = 0 ] && exit 1; sleep 0.3; kill -9 $$");
  const LaunchOutcome outcome = shell.run();
  EXPECT_THAT(outcome.why, HasSubstr("rank 1 was ended by signal 9"));
}

TEST(Launch, StartsAllAgain) {
  const test::TemporaryFolder folder;
  const std::string mark = folder.path("mark");
  Shell shell("[ -e " + mark + " ] && exit 0; [ $RANK = 1 ] && touch " + mark +
              " && exit 5; exec sleep 20");
  shell.request.restarts = 2;
  EXPECT_EQ(shell.run().code, 0);
  EXPECT_THAT(shell.notices,
              ElementsAre(HasSubstr("rank 1 ended with code 5; all ranks start again "
                                    "(1 of 2 restarts)")));
}

TEST(Launch, AUsageErrorIsNotTriedAgain) {
  Shell shell("exit 2");
  shell.request.restarts = 5;
  EXPECT_EQ(shell.run().code, 2);
  EXPECT_THAT(shell.notices, testing::IsEmpty());
}

TEST(Launch, PassesSignalsOnAndDoesNotStartAgain) {
  Shell shell(
      "trap 'echo got it; exit 1' TERM; echo ready; sleep 0.5; [ $RANK = 0 ] && kill -TERM $PPID; "
      "while :; do sleep 0.05; done");
  shell.request.restarts = 5;
  const LaunchOutcome outcome = shell.run();
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_THAT(shell.lines, testing::IsSupersetOf({"0 out got it", "1 out got it"}));
  EXPECT_THAT(shell.notices, testing::IsEmpty());
}

TEST(Launch, AProgramThatDoesNotExistIsAFailure) {
  Shell shell("");
  shell.request.program = "/nowhere/soft";
  EXPECT_EQ(shell.run().code, 127);
}

TEST(ShareOfCores, NeighboursInEqualShares) {
  const std::vector<int> cores{0, 1, 2, 3, 8, 9};
  EXPECT_THAT(share_of_cores(cores, 0, 3), ElementsAre(0, 1));
  EXPECT_THAT(share_of_cores(cores, 2, 3), ElementsAre(8, 9));
  EXPECT_THAT(share_of_cores(cores, 1, 4), ElementsAre(1, 2));
  EXPECT_THAT(share_of_cores({4, 5}, 3, 4), ElementsAre(5));  // more ranks than cores
  EXPECT_THAT(share_of_cores({}, 0, 2), testing::IsEmpty());
}

}  // namespace
}  // namespace soft
