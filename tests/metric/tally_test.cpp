#include "metric/tally.h"

#include <cmath>
#include <limits>

#include "support/support.h"

namespace soft {
namespace {

TEST(Rank, CountsTheClassesThatBeatTheRightOne) {
  const float logits[] = {0.5f, 3, -1, 2};
  EXPECT_EQ(rank_of(logits, 4, 1), 0);
  EXPECT_EQ(rank_of(logits, 4, 3), 1);
  EXPECT_EQ(rank_of(logits, 4, 0), 2);
  EXPECT_EQ(rank_of(logits, 4, 2), 3);
}

TEST(Rank, TiesGoToTheLowerClassSoThatConstantLogitsAreRightByChanceOnly) {
  const float logits[] = {1, 1, 1};
  EXPECT_EQ(rank_of(logits, 3, 0), 0);
  EXPECT_EQ(rank_of(logits, 3, 2), 2);
}

TEST(Rank, NotANumberNeverWins) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float logits[] = {nan, nan, nan};
  for (int64_t label = 0; label < 3; ++label) EXPECT_EQ(rank_of(logits, 3, label), 3);
}

TEST(CrossEntropy, IsExactAndSafeForLargeLogits) {
  const float logits[] = {1, 2, 3};
  const double sum = std::exp(1) + std::exp(2) + std::exp(3);
  EXPECT_NEAR(cross_entropy(logits, 3, 0), std::log(sum) - 1, 1e-12);
  const float large[] = {10000, -10000};
  EXPECT_DOUBLE_EQ(cross_entropy(large, 2, 0), 0);
  EXPECT_DOUBLE_EQ(cross_entropy(large, 2, 1), 20000);
}

TEST(Tally, CountsTopOneTopFiveLossAndClasses) {
  Tally tally(7);
  const float logits[] = {7, 6, 5, 4, 3, 2, 1};
  tally.add(logits, 0);  // first
  tally.add(logits, 4);  // fifth
  tally.add(logits, 5);  // sixth
  tally.add_wrong(0);
  EXPECT_EQ(tally.images(), 4);
  EXPECT_DOUBLE_EQ(tally.top1(), 25);
  EXPECT_DOUBLE_EQ(tally.top5(), 50);
  EXPECT_EQ(tally.per_class()[0].recall(), 50);
  EXPECT_EQ(tally.per_class()[4].images, 1);
  EXPECT_EQ(tally.per_class()[6].recall(), std::nullopt);
  const double expected =
      (cross_entropy(logits, 7, 0) + cross_entropy(logits, 7, 4) + cross_entropy(logits, 7, 5)) / 3;
  EXPECT_NEAR(tally.loss(), expected, 1e-12);
}

TEST(Tally, PrecisionAsksAboutAnswersRecallAboutImages) {
  Tally tally(3);
  const float zero[] = {1, 0, 0}, one[] = {0, 1, 0};
  tally.add(zero, 0);
  tally.add(zero, 1);
  tally.add(zero, 1);
  tally.add(one, 1);
  const auto& classes = tally.per_class();
  EXPECT_EQ(classes[0].answers, 3);
  EXPECT_NEAR(*classes[0].precision(), 100.0 / 3, 1e-12);
  EXPECT_EQ(classes[0].recall(), 100);
  EXPECT_EQ(classes[0].f1(), 50);  // 2 · 1/3 · 1 / (1/3 + 1)
  EXPECT_EQ(classes[1].precision(), 100);
  EXPECT_NEAR(*classes[1].recall(), 100.0 / 3, 1e-12);
  EXPECT_EQ(classes[1].f1(), 50);
  EXPECT_EQ(classes[2].precision(), std::nullopt);
  EXPECT_EQ(classes[2].recall(), std::nullopt);
  EXPECT_EQ(classes[2].f1(), std::nullopt);
}

TEST(Tally, OfNothingIsZero) {
  EXPECT_DOUBLE_EQ(Tally(3).top1(), 0);
  EXPECT_DOUBLE_EQ(Tally(3).loss(), 0);
}

TEST(Average, WeighsItsValues) {
  Average average;
  EXPECT_DOUBLE_EQ(average.mean(), 0);
  average.add(1, 3);
  average.add(5);
  EXPECT_DOUBLE_EQ(average.mean(), 2);
  EXPECT_DOUBLE_EQ(average.weight(), 4);
}

}  // namespace
}  // namespace soft
