#include "base/parallel.h"

#include <atomic>
#include <stdexcept>
#include <vector>

#include "base/error.h"
#include "support/support.h"

namespace soft {
namespace {

class Parallel : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_threads(GetParam()); }
  void TearDown() override { set_threads(0); }
};

INSTANTIATE_TEST_SUITE_P(Threads, Parallel, testing::Values(1, 2, 3, 8));

TEST_P(Parallel, EveryIndexIsVisitedExactlyOnce) {
  for (int64_t count : {0, 1, 2, 7, 8, 1000}) {
    std::vector<std::atomic<int>> visits(count);
    parallel_for(count, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) ++visits[i];
    });
    for (int64_t i = 0; i < count; ++i) EXPECT_EQ(visits[i], 1) << i << " of " << count;
  }
}

TEST_P(Parallel, AnExceptionReachesTheCaller) {
  const auto throw_at_five = [](int64_t begin, int64_t end) {
    if (begin <= 5 && 5 < end) fail("five");
  };
  EXPECT_EQ(test::error_of([&] { parallel_for(10, throw_at_five); }), "five");
}

TEST_P(Parallel, ANestedRegionRunsWhereItIs) {
  std::atomic<int64_t> sum{0};
  parallel_for(4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      parallel_for(10, [&](int64_t from, int64_t to) { sum += to - from; });
    }
  });
  EXPECT_EQ(sum, 40);
}

TEST(Threads, ZeroMeansAllCores) {
  set_threads(3);
  EXPECT_EQ(threads(), 3);
  set_threads(0);
  EXPECT_EQ(threads(), hardware_threads());
  EXPECT_GE(hardware_threads(), 1);
}

}  // namespace
}  // namespace soft
