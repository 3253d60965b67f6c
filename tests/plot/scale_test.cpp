#include "plot/scale.h"

#include <gmock/gmock.h>

#include <cmath>

namespace soft {
namespace {

using testing::ElementsAre;

std::vector<std::string> named_ticks(const Scale& scale) {
  std::vector<std::string> names;
  for (const Tick& tick : scale.ticks()) {
    if (!tick.text.empty()) names.push_back(tick.text);
  }
  return names;
}

TEST(Scale, TicksOfALinearAxisAreRoundAndCoverTheValues) {
  Scale scale({}, {3, 97});
  EXPECT_THAT(named_ticks(scale), ElementsAre("0", "20", "40", "60", "80", "100"));
}

TEST(Scale, ALinearAxisEndsWhereItIsTold) {
  Axis axis;
  axis.low = 0;
  axis.high = 1;
  EXPECT_THAT(named_ticks(Scale(axis, {0.2, 0.3})),
              ElementsAre("0", "0.2", "0.4", "0.6", "0.8", "1"));
}

TEST(Scale, ALogAxisNamesThePowersOfTenAndMarksTheRest) {
  Axis axis;
  axis.log = true;
  Scale scale(axis, {1, 10'000});
  EXPECT_THAT(named_ticks(scale), ElementsAre("1", "10", "100", "1,000", "10,000"));
  EXPECT_GT(scale.ticks().size(), 30U);
}

TEST(Scale, ALogAxisTurnsRatiosIntoDistances) {
  Axis axis;
  axis.log = true;
  Scale scale(axis, {1, 1000});
  scale.place(0, 300);
  EXPECT_NEAR(scale.at(100) - scale.at(10), scale.at(10) - scale.at(1), 1e-9);
  EXPECT_FALSE(scale.shows(0));
  EXPECT_FALSE(scale.shows(NAN));
}

TEST(Scale, ValuesThatAreAllEqualOrMissingStillGiveAnAxis) {
  for (const bool log : {false, true}) {
    Axis axis;
    axis.log = log;
    for (const std::vector<double>& values : {std::vector<double>{7, 7}, {}, {NAN}}) {
      Scale scale(axis, values);
      scale.place(0, 100);
      EXPECT_TRUE(std::isfinite(scale.at(7)));
      EXPECT_FALSE(scale.ticks().empty());
    }
  }
}

TEST(Scale, NumbersAreShort) {
  EXPECT_EQ(short_number(50'176), "50,176");
  EXPECT_EQ(short_number(-1'234), "-1,234");
  EXPECT_EQ(short_number(999), "999");
  EXPECT_EQ(short_number(2.5), "2.5");
  EXPECT_EQ(short_number(1e-6), "1e-6");
  EXPECT_EQ(short_number(0), "0");
}

}  // namespace
}  // namespace soft
