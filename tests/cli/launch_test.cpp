#include "support/support.h"

namespace soft {
namespace {

using test::run_soft;
using testing::HasSubstr;

TEST(Launch, RefusesWhatCannotWork) {
  const auto error = [](const std::vector<std::string>& words) {
    const auto outcome = run_soft(words);
    EXPECT_EQ(outcome.exit_code, 2);
    return outcome.err;
  };
  EXPECT_THAT(error({"launch", "-n", "2"}), HasSubstr("nothing to start"));
  EXPECT_THAT(error({"launch", "-n", "0", "--", "models"}), HasSubstr("--ranks"));
  EXPECT_THAT(error({"launch", "--nodes", "2", "--", "models"}), HasSubstr("--master HOST:PORT"));
  EXPECT_THAT(error({"launch", "--nodes", "2", "--node-rank", "2", "--", "models"}),
              HasSubstr("--node-rank 2 of 2"));
  EXPECT_THAT(error({"launch", "--master", "here", "--", "models"}), HasSubstr("not HOST:PORT"));
  EXPECT_THAT(error({"launch", "--master", "here:0", "--", "models"}), HasSubstr("1 to 65535"));
  EXPECT_THAT(error({"launch", "-n", "2", "--", "train", "--data", "shapes"}),
              HasSubstr("needs --out DIR"));
}

TEST(Launch, PrintsWhatRankZeroPrintsOnce) {
  const auto alone = run_soft({"models"});
  const auto two = run_soft({"launch", "-n", "2", "--", "models"});
  EXPECT_EQ(two.exit_code, 0) << two.err;
  EXPECT_EQ(two.out, alone.out);
}

TEST(Launch, AUsageErrorOfTheRanksIsItsOwn) {
  const auto outcome = run_soft({"launch", "-n", "2", "--", "info", "no-such-model"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("no-such-model"));
  EXPECT_THAT(outcome.err, testing::Not(HasSubstr("start again")));
}

}  // namespace
}  // namespace soft
