#include "data/sampler.h"

#include <set>

#include "support/support.h"

namespace soft {
namespace {

LoaderOptions share_of(bool training, int64_t batch, int rank = 0, int world = 1) {
  LoaderOptions options;
  options.training = training;
  options.batch = batch;
  options.rank = rank;
  options.world = world;
  return options;
}

TEST(Sampler, TrainingDropsTheIncompleteBatchAndEvaluationKeepsIt) {
  EXPECT_EQ(batches_per_epoch(share_of(true, 4), 11), 2);
  EXPECT_EQ(batches_per_epoch(share_of(false, 4), 11), 3);
  EXPECT_THAT(batch_positions(share_of(false, 4), 11, 2), testing::ElementsAre(8, 9, 10));
  EXPECT_EQ(batches_per_epoch(share_of(false, 4), 0), 0);
}

TEST(Sampler, EvaluationIsInOrderAndTrainingShuffledAnewEachEpoch) {
  EXPECT_THAT(epoch_order(share_of(false, 4), 3, 5), testing::ElementsAre(0, 1, 2));
  const auto first = epoch_order(share_of(true, 4), 100, 0);
  EXPECT_EQ(first, epoch_order(share_of(true, 4), 100, 0));
  EXPECT_NE(first, epoch_order(share_of(true, 4), 100, 1));
  EXPECT_EQ(std::set<int64_t>(first.begin(), first.end()).size(), 100u);
}

TEST(Sampler, RanksShareEachTrainingBatch) {
  for (int64_t number = 0; number < batches_per_epoch(share_of(true, 8), 40); ++number) {
    std::vector<int64_t> together;
    for (int rank = 0; rank < 4; ++rank) {
      const auto mine = batch_positions(share_of(true, 2, rank, 4), 40, number);
      together.insert(together.end(), mine.begin(), mine.end());
    }
    EXPECT_EQ(together, batch_positions(share_of(true, 8), 40, number));
  }
}

TEST(Sampler, RanksEvaluateEveryPictureExactlyOnce) {
  for (int64_t pictures : {1, 2, 10, 11, 12, 13}) {
    std::multiset<int64_t> seen;
    for (int rank = 0; rank < 3; ++rank) {
      const LoaderOptions options = share_of(false, 2, rank, 3);
      for (int64_t number = 0; number < batches_per_epoch(options, pictures); ++number) {
        const auto mine = batch_positions(options, pictures, number);
        EXPECT_FALSE(mine.empty());
        seen.insert(mine.begin(), mine.end());
      }
    }
    EXPECT_EQ(static_cast<int64_t>(seen.size()), pictures);
    EXPECT_EQ(std::set<int64_t>(seen.begin(), seen.end()).size(), seen.size());
  }
}

}  // namespace
}  // namespace soft
