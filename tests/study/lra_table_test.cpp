#include "study/lra_table.h"

#include <cmath>
#include <filesystem>

#include "support/support.h"

namespace soft {
namespace {

using testing::HasSubstr;

Json result(const std::string& task, const std::string& form, int64_t steps, double accuracy) {
  return {{"run",
           {{"task", task},
            {"model", {{"form", form}}},
            {"steps", steps},
            {"deviations", {"steps 1000 instead of 5000"}}}},
          {"test_accuracy", accuracy},
          {"step_seconds", 0.5},
          {"train_seconds", 120},
          {"peak_bytes", 2e8},
          {"best_constant", 20.0},
          {"params", 1000}};
}

TEST(LraTable, SeedsBecomeAMeanAndASpread) {
  const Json rows = lra_rows(
      Json::array({result("listops", "soft", 1000, 36), result("listops", "soft", 1000, 38),
                   result("listops", "none", 1000, 20)}));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("attention"), "soft");
  EXPECT_EQ(rows[0].at("seeds"), 2);
  EXPECT_EQ(rows[0].at("accuracy"), 37);
  EXPECT_NEAR(rows[0].at("spread").get<double>(), std::sqrt(2.0), 1e-12);
  EXPECT_TRUE(rows[0].at("paper").is_null());  // the paper's is the released form
  EXPECT_TRUE(rows[1].at("spread").is_null());
  EXPECT_EQ(rows[0].at("minutes"), 2);
}

TEST(LraTable, DifferentNumbersOfStepsAreNotMixed) {
  const Json rows = lra_rows(
      Json::array({result("image", "softmax", 700, 30), result("image", "softmax", 35000, 38)}));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("paper"), 38.20);
  const std::string table = lra_table(rows);
  EXPECT_THAT(table, HasSubstr("38.00 38.20"));
  EXPECT_THAT(table, testing::Not(HasSubstr("30.00")));
}

TEST(LraTable, HasThePapersRowsWhereNothingWasTrained) {
  const std::string table = lra_table(lra_rows(Json::array({result("listops", "none", 1000, 20)})));
  EXPECT_THAT(table, HasSubstr("reformer               - 19.05"));
  EXPECT_THAT(table, HasSubstr("soft-released          - 37.40"));
  EXPECT_THAT(table, HasSubstr("none               20.00     -"));
  EXPECT_LT(table.find("soft-released"), table.find("none"));
}

TEST(LraTable, ReadsResultsAtAnyDepthAndNamesDamagedOnes) {
  const test::TemporaryFolder folder;
  EXPECT_THAT(test::error_of([&] { read_lra_results(folder.path()); }),
              HasSubstr("no result.json"));
  std::filesystem::create_directories(folder.path("a/b"));
  test::write_file(folder.path("a/b/result.json"), result("text", "soft", 500, 60).dump());
  EXPECT_EQ(read_lra_results(folder.path()).size(), 1u);
  test::write_file(folder.path("a/result.json"), "{\"run\": {}}");
  EXPECT_THAT(test::error_of([&] { read_lra_results(folder.path()); }),
              HasSubstr("a/result.json' is no result of `soft lra train`"));
  EXPECT_THAT(test::error_of([&] { read_lra_results(folder.path("none")); }),
              HasSubstr("no folder"));
}

TEST(LraTable, DrawsOneSetOfBarsForEveryAttentionThatWasTrained) {
  const BarChart chart = lra_chart(lra_rows(Json::array({result("listops", "soft", 1000, 36)})));
  ASSERT_EQ(chart.sets.size(), 1u);
  EXPECT_EQ(chart.groups.size(), 4u);
  EXPECT_EQ(chart.sets[0].values[0], 36);
}

}  // namespace
}  // namespace soft
