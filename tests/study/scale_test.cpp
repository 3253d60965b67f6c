#include "study/scale.h"

#include "support/support.h"

namespace soft {
namespace {

TEST(Scale, FindsTheNetworkBehindMeasuredSums) {
  const Interconnect network{1e9, 5e-5};
  const std::vector<int64_t> bytes{4096, 65'536, 1 << 20, 25 << 20};
  for (int ranks : {2, 4}) {
    std::vector<double> seconds;
    for (const int64_t size : bytes) {
      seconds.push_back(ring_seconds(network, static_cast<double>(size), ranks));
    }
    const Interconnect found = network_of(bytes, seconds, ranks);
    EXPECT_NEAR(found.bandwidth, network.bandwidth, 1e3);
    EXPECT_NEAR(found.latency, network.latency, 1e-10);
  }
}

TEST(Scale, ARingSendsEverythingAlmostTwice) {
  EXPECT_DOUBLE_EQ(ring_seconds({1e9, 0}, 1e9, 2), 1.0);
  EXPECT_NEAR(ring_seconds({1e9, 0}, 1e9, 1000), 2.0, 0.01);
  EXPECT_DOUBLE_EQ(ring_seconds({1e9, 1e-3}, 0, 5, 3), 8 * 1e-3 * 3);
}

TEST(Scale, OneMachineExchangesNothing) {
  const ScaleCost cost = cost_of_step({1e8, 100, 1000, 1, 25 << 20}, {1e9, 1e-4});
  EXPECT_EQ(cost.exchange, 0);
  EXPECT_EQ(cost.efficiency, 1);
  EXPECT_DOUBLE_EQ(cost.step, 10);
  EXPECT_DOUBLE_EQ(cost.days(2500, 300, 1000), 10.0 * 2 * 300 / 86'400);
}

// 100 MB in four buckets over 1 GB/s: 0.1875 s, of which three quarters hide behind two thirds of
// 0.625 s.
TEST(Scale, BackwardHidesAllBucketsButTheLast) {
  const ScaleCost cost = cost_of_step({1e8, 100, 1000, 16, 25e6}, {1e9, 0});
  EXPECT_DOUBLE_EQ(cost.compute, 0.625);
  EXPECT_DOUBLE_EQ(cost.exchange, 0.1875);
  EXPECT_DOUBLE_EQ(cost.step, 0.625 + 0.1875 / 4);
  EXPECT_DOUBLE_EQ(cost.efficiency, cost.compute / cost.step);
}

TEST(Scale, EfficiencyFallsWithTheNumberOfMachines) {
  double before = 1;
  for (int nodes : {2, 4, 8, 64, 256}) {
    const double now = cost_of_step({1e8, 100, 1024, nodes, 25e6}, {1e9, 1e-5}).efficiency;
    EXPECT_LT(now, before);
    before = now;
  }
}

// Without latency and with one bucket N machines take 10 / N + 2 (N - 1) / N · 0.1 s: half of it
// is waiting when 10 = 0.2 (N - 1).
TEST(Scale, CountsTheMachinesThatAreWorthTheirWaiting) {
  const ScaleCase scale{1e8, 100, 1000, 1, 1e9};
  EXPECT_EQ(most_nodes(scale, {1e9, 0}, 0.4999), 51);
  EXPECT_EQ(most_nodes(scale, {1e9, 0}, 0.8), 13);
  EXPECT_EQ(most_nodes(scale, {1e3, 0}, 0.8), 1);
  EXPECT_EQ(most_nodes(scale, {1e15, 0}, 0.8), 1000);  // one picture each
}

}  // namespace
}  // namespace soft
