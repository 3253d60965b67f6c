#include "data/shard_order.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "data/sampler.h"
#include "support/support.h"

namespace soft {
namespace {

using testing::ElementsAre;

constexpr int64_t kPictures = 1000;
constexpr int64_t kPerShard = 50;

std::vector<int64_t> shards() {
  std::vector<int64_t> begins;
  for (int64_t i = 0; i < kPictures; i += kPerShard) begins.push_back(i);
  return begins;
}

LoaderOptions share(int64_t batch, int rank, int world, bool training = true) {
  LoaderOptions options;
  options.training = training;
  options.batch = batch;
  options.rank = rank;
  options.world = world;
  options.shuffle = 64;
  return options;
}

std::vector<int64_t> order_of(const LoaderOptions& options, int64_t epoch = 0) {
  return shard_order(options, shards(), kPictures, epoch);
}

// All that this rank sees in an epoch.
std::vector<int64_t> seen_by(const LoaderOptions& options) {
  const auto order = order_of(options);
  std::vector<int64_t> seen;
  for (int64_t number = 0; number < batches_per_epoch(options, kPictures); ++number) {
    for (int64_t position : batch_positions(options, kPictures, number)) {
      seen.push_back(order[position]);
    }
  }
  return seen;
}

TEST(ShardOrder, IsAnEpochOfEveryPictureOnceAndAnotherEachTime) {
  for (const int64_t batch : {1, 7, 8, 300}) {
    auto order = order_of(share(batch, 0, 1));
    EXPECT_EQ(order, order_of(share(batch, 0, 1)));
    EXPECT_NE(order, order_of(share(batch, 0, 1), 1));
    std::sort(order.begin(), order.end());
    std::vector<int64_t> all(kPictures);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(order, all) << "batch " << batch;
  }
}

TEST(ShardOrder, IsTheSameForAnyNumberOfRanksThatShareTheGlobalBatch) {
  const auto alone = order_of(share(48, 0, 1));
  for (const int world : {2, 3, 4, 16, 48}) {
    EXPECT_EQ(order_of(share(48 / world, world - 1, world)), alone) << world << " ranks";
  }
}

TEST(ShardOrder, RanksReadDisjointStretchesThatAreOneEpochTogether) {
  for (const int world : {2, 3, 4}) {
    std::set<int64_t> together;
    size_t pictures = 0;
    size_t touched = 0;
    for (int rank = 0; rank < world; ++rank) {
      const auto mine = seen_by(share(8, rank, world));
      pictures += mine.size();
      together.insert(mine.begin(), mine.end());
      std::set<int64_t> of_mine;
      for (const int64_t picture : mine) of_mine.insert(picture / kPerShard);
      touched += of_mine.size();
    }
    EXPECT_EQ(together.size(), pictures) << "no picture twice";
    EXPECT_GT(static_cast<int64_t>(pictures), kPictures - 8 * world) << "but for the last batch";
    // A shard has one rank, save those where the lanes of two ranks meet and the one begun anew.
    EXPECT_LE(touched, shards().size() + static_cast<size_t>(world) + 1);
  }
}

TEST(ShardOrder, RanksEvaluateOneStretchEachAndEveryPictureOnce) {
  EXPECT_EQ(seen_by(share(8, 0, 1, false)), [] {
    std::vector<int64_t> all(kPictures);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }());
  std::vector<int64_t> together;
  for (int rank = 0; rank < 3; ++rank) {
    const auto mine = seen_by(share(8, rank, 3, false));
    EXPECT_EQ(mine.back() - mine.front() + 1, static_cast<int64_t>(mine.size()));
    together.insert(together.end(), mine.begin(), mine.end());
  }
  EXPECT_EQ(together, seen_by(share(8, 0, 1, false)));
}

// A lane's pictures come nearly in the order of their place in the shards: reading is sequential.
TEST(ShardOrder, ALaneMovesForwardAndLooksBackNoFurtherThanItsBuffer) {
  const LoaderOptions options = share(8, 0, 1);  // 8 lanes, buffers of 8
  const auto order = order_of(options);
  for (int64_t lane = 0; lane < 8; ++lane) {
    int64_t jumps = 0;  // to another shard
    for (int64_t i = lane + 8; i < kPictures; i += 8) {
      const int64_t step = order[i] - order[i - 8];
      if (order[i] / kPerShard == order[i - 8] / kPerShard) {
        EXPECT_LE(std::abs(step), 64) << "a step within a shard";
      } else {
        ++jumps;
      }
    }
    EXPECT_LT(jumps, 40) << "125 pictures of about three shards, mixed where two meet";
  }
}

TEST(ShardOrder, ABatchMixesManyShards) {
  const auto order = order_of(share(16, 0, 1));
  for (int64_t first = 0; first + 16 <= kPictures; first += 16) {
    std::set<int64_t> met;
    for (int64_t i = first; i < first + 16; ++i) met.insert(order[i] / kPerShard);
    EXPECT_GE(met.size(), 12u);
  }
}

TEST(ShardOrder, WhatFitsIntoTheBufferIsShuffledAsAWhole) {
  LoaderOptions options = share(8, 0, 1);
  options.shuffle = kPictures;
  EXPECT_EQ(order_of(options, 3), epoch_order(options, kPictures, 3));
}

}  // namespace
}  // namespace soft
