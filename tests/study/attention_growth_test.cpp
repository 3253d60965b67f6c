#include "study/attention_growth.h"

#include <gmock/gmock.h>

#include <cmath>

#include "plot/chart.h"
#include "study/fit.h"

namespace soft {
namespace {

std::vector<Json> rows_of(const std::string& attention, double at_first, double exponent) {
  std::vector<Json> rows;
  for (const double tokens : {64.0, 256.0, 1024.0, 4096.0}) {
    const double size = at_first * std::pow(tokens / 64, exponent);
    rows.push_back({{"attention", attention},
                    {"pass", "step"},
                    {"tokens", tokens},
                    {"ms_median", size},
                    {"mb", 2 * size}});
  }
  return rows;
}

std::vector<Json> both(std::vector<Json> one, const std::vector<Json>& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

TEST(Crossing, LiesWhereTheLinesMeetBetweenLogarithms) {
  const std::vector<Point> linear{{10, 10}, {100, 100}, {1000, 1000}};
  const std::vector<Point> square{{10, 1}, {100, 100 * std::sqrt(0.1)}, {1000, 10'000}};
  EXPECT_NEAR(crossing_of(linear, square).value(), std::pow(10, 2 + 1.0 / 3), 1e-9);
  EXPECT_FALSE(crossing_of(square, linear).has_value());  // above at the end
}

TEST(Crossing, IsNoneForWhatIsAlwaysBelowOrSharesNoPoint) {
  EXPECT_FALSE(crossing_of({{1, 1}, {2, 2}}, {{1, 3}, {2, 5}}).has_value());
  EXPECT_FALSE(crossing_of({{1, 1}}, {{2, 5}}).has_value());
  EXPECT_FALSE(crossing_of({}, {}).has_value());
}

TEST(Growth, SaysHowFastAndFromWhereOnSoftPays) {
  const Json rows = growth_of(both(rows_of("soft", 4, 1), rows_of("softmax", 1, 2)));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_NEAR(rows[0].at("time_exponent").get<double>(), 1, 1e-9);
  EXPECT_NEAR(rows[1].at("memory_exponent").get<double>(), 2, 1e-9);
  EXPECT_EQ(rows[2].at("faster_from_tokens"), 256);
  EXPECT_EQ(rows[2].at("smaller_from_tokens"), 256);
}

TEST(Growth, HasNoCrossingWithoutBothOrWhereNothingCrosses) {
  EXPECT_EQ(growth_of(rows_of("soft", 4, 1)).size(), 1u);
  EXPECT_EQ(growth_of(both(rows_of("soft", 1, 1), rows_of("softmax", 4, 2))).size(), 2u);
}

TEST(Growth, ACaseThatDidNotFitHasNoPoint) {
  std::vector<Json> rows = rows_of("soft", 4, 1);
  rows.back()["ms_median"] = rows.back()["mb"] = nullptr;
  EXPECT_NEAR(growth_of(rows)[0].at("time_exponent").get<double>(), 1, 1e-9);
}

TEST(Growth, TheChartNamesTheCrossing) {
  const auto rows = both(rows_of("soft", 4, 1), rows_of("softmax", 1, 2));
  const std::string svg = to_svg(attention_chart(rows, "step"));
  EXPECT_THAT(svg, testing::HasSubstr("faster than softmax from 256 tokens on"));
  EXPECT_THAT(svg, testing::HasSubstr("softmax (n^2.00)"));
}

}  // namespace
}  // namespace soft
