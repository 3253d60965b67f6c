#include "study/timing.h"

#include "support/support.h"

namespace soft {
namespace {

TEST(Timing, TellsBestMedianAndSpread) {
  const Timing timing{{5, 1, 4, 2, 3}};
  EXPECT_EQ(timing.best(), 1);
  EXPECT_EQ(timing.median(), 3);
  EXPECT_EQ(timing.spread(), 2);
  const Timing once{{7}};
  EXPECT_EQ(once.median(), 7);
  EXPECT_EQ(once.spread(), 0);
}

TEST(TimeInTurns, RunsEveryContestantAsOftenAsAsked) {
  int first = 0, second = 0;
  TimingPlan plan;
  plan.repeat = 3;
  const auto timings =
      time_in_turns({{"first", [&] { ++first; }}, {"second", [&] { ++second; }}}, plan);
  ASSERT_EQ(timings.size(), 2u);
  for (const Timing& timing : timings) EXPECT_EQ(timing.seconds.size(), 3u);
  EXPECT_EQ(first, 5);  // two of them untimed
  EXPECT_EQ(second, 5);
}

TEST(TimeInTurns, RunsAtLeastFiveTimesWhenNothingIsAsked) {
  TimingPlan plan;
  plan.seconds = 0;
  std::string last;
  plan.progress = [&](const std::string& text) { last = text; };
  EXPECT_EQ(time_in_turns({{"idle", [] {}}}, plan).front().seconds.size(), 5u);
  EXPECT_EQ(last, "idle: 5 runs");
}

}  // namespace
}  // namespace soft
