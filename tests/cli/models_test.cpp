#include "base/json.h"
#include "support/support.h"

namespace soft {
namespace {

using test::Outcome;
using test::run_soft;
using testing::HasSubstr;

TEST(Models, TheTableShowsEveryModelWithItsParameters) {
  const Outcome outcome = run_soft({"models"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, testing::ContainsRegex("soft-tiny +soft +13069056 +1\\.928\n"));
  EXPECT_THAT(outcome.out, HasSubstr("deit-small"));
}

TEST(Models, JsonHasTheKeysOfTheContract) {
  const Json rows = Json::parse(run_soft({"models", "--json"}).out);
  ASSERT_GT(rows.size(), 10u);
  EXPECT_EQ(rows[0].dump(),
            R"({"name":"soft-tiny","family":"soft","params":13069056,"gmacs":1.927618048})");
}

TEST(Models, AFilterKeepsTheNamesThatContainIt) {
  const Json rows = Json::parse(run_soft({"models", "norm", "--json"}).out);
  EXPECT_EQ(rows.size(), 5u);
  for (const Json& row : rows) EXPECT_EQ(row.at("family"), "soft-norm");
}

TEST(Models, AFilterThatMatchesNothingSaysSoOnStderr) {
  const Outcome outcome = run_soft({"models", "vgg", "--json"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "[]\n");
  EXPECT_THAT(outcome.err, HasSubstr("'vgg'"));
}

}  // namespace
}  // namespace soft
