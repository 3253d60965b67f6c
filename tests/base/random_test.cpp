#include "base/random.h"

#include <cmath>
#include <set>

#include "support/support.h"

namespace soft {
namespace {

constexpr int kDraws = 200'000;

struct Moments {
  double mean = 0;
  double variance = 0;
};

template <class Draw>
Moments moments_of(Draw draw) {
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = draw();
    sum += x;
    squares += x * x;
  }
  const double mean = sum / kDraws;
  return {mean, squares / kDraws - mean * mean};
}

// Five standard errors of the mean; the seeds are fixed, so this does not flicker.
void expect_moments(const Moments& found, double mean, double variance) {
  EXPECT_NEAR(found.mean, mean, 5 * std::sqrt(variance / kDraws));
  EXPECT_NEAR(found.variance, variance, 0.03 * variance);
}

TEST(Random, TheSameSeedAndStreamsGiveTheSameNumbers) {
  Random a(7, {1, 2});
  Random b(7, {1, 2});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.next(), b.next());
}

TEST(Random, TheSequenceNeverChangesBetweenVersions) {
  Random random(42);
  EXPECT_EQ(random.next(), 17'927'120'371'068'152'623u);
}

TEST(Random, NeighbouringSeedsAndStreamsShareNothing) {
  std::set<uint64_t> seen;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    for (uint64_t epoch = 0; epoch < 10; ++epoch) {
      for (uint64_t index = 0; index < 10; ++index) {
        seen.insert(Random(seed, {epoch, index}).next());
      }
    }
  }
  EXPECT_EQ(seen.size(), 1000u);
  EXPECT_NE(Random(1, {2, 3}).next(), Random(1, {3, 2}).next());
  EXPECT_NE(Random(1).next(), Random(1, {0}).next());
}

TEST(Random, NeighbouringStreamsAreUncorrelated) {
  double product = 0;
  for (int i = 0; i < kDraws; ++i) {
    const auto stream = static_cast<uint64_t>(i);
    product += Random(3, {stream}).normal() * Random(3, {stream + 1}).normal();
  }
  EXPECT_NEAR(product / kDraws, 0, 5 / std::sqrt(kDraws));
}

TEST(Random, UniformNumbersFillTheirRange) {
  Random random(1);
  expect_moments(moments_of([&] { return random.uniform(); }), 0.5, 1.0 / 12);
  for (int i = 0; i < 1000; ++i) {
    const double x = random.uniform(-3, 5);
    EXPECT_GE(x, -3);
    EXPECT_LT(x, 5);
  }
}

TEST(Random, NormalGammaAndBetaHaveTheirMoments) {
  Random random(2);
  expect_moments(moments_of([&] { return random.normal(); }), 0, 1);
  expect_moments(moments_of([&] { return random.gamma(0.5); }), 0.5, 0.5);
  expect_moments(moments_of([&] { return random.gamma(4); }), 4, 4);
  expect_moments(moments_of([&] { return random.beta(0.8, 0.8); }), 0.5, 0.25 / 2.6);
  expect_moments(moments_of([&] { return random.beta(2, 6); }), 0.25, 12.0 / (64 * 9));
}

TEST(Random, BelowIsEvenAndChanceKeepsItsPromise) {
  Random random(3);
  std::vector<int> hits(7);
  for (int i = 0; i < kDraws; ++i) ++hits[random.below(7)];
  for (int count : hits) EXPECT_NEAR(count, kDraws / 7.0, 5 * std::sqrt(kDraws / 7.0));
  expect_moments(moments_of([&] { return random.chance(0.3) ? 1.0 : 0.0; }), 0.3, 0.21);
}

TEST(Random, APermutationHoldsEveryIndexOnce) {
  Random random(4);
  std::vector<int64_t> order = random.permutation(100);
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (int64_t i = 0; i < 100; ++i) EXPECT_EQ(order[i], i);
  EXPECT_TRUE(random.permutation(0).empty());
}

TEST(Random, AStoredStateContinuesTheSequence) {
  Random a(5);
  a.normal();
  Random b(6);
  b.set_state(a.state());
  EXPECT_EQ(a.next(), b.next());
}

}  // namespace
}  // namespace soft
