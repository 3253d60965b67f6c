#include "data/shard_order.h"

#include <algorithm>
#include <numeric>

#include "base/random.h"
#include "data/sampler.h"

namespace soft {
namespace {

// Streams of the generator, beside those of data/collate.cpp.
enum Purpose : uint64_t { kShards = 4, kLane = 5 };

constexpr int64_t kMostLanes = 128;  // files that are read at once, on all ranks together

// Which lane each position of the epoch takes its picture from.
struct Lanes {
  int64_t count;
  int64_t period;  // positions after which the lanes repeat

  int64_t of(int64_t position) const { return position % period * count / period; }
};

Lanes lanes_of(const LoaderOptions& options) {
  if (!options.training) return {options.world, options.world};
  const int64_t global = options.batch * options.world;
  return {std::min(kMostLanes, global), global};
}

// All pictures, shard after shard, the shards in random order; begun at a random picture, so that
// the lanes of few shards, too, are others each time.
std::vector<int64_t> shuffled_row(const std::vector<int64_t>& shards, int64_t pictures,
                                  Random random) {
  std::vector<int64_t> row;
  row.reserve(pictures);
  for (const int64_t shard : random.permutation(static_cast<int64_t>(shards.size()))) {
    const bool last = shard + 1 == static_cast<int64_t>(shards.size());
    const int64_t end = last ? pictures : shards[shard + 1];
    for (int64_t i = shards[shard]; i < end; ++i) row.push_back(i);
  }
  std::rotate(row.begin(), row.begin() + random.below(pictures), row.end());
  return row;
}

// As a shuffle buffer would hand them out: the next is any of the first `buffer` that are left.
void shuffle_lane(int64_t* lane, int64_t size, int64_t buffer, Random random) {
  for (int64_t i = 0; i < size; ++i) {
    std::swap(lane[i], lane[i + random.below(std::min(buffer, size - i))]);
  }
}

std::vector<int64_t> lane_sizes(const Lanes& lanes, int64_t pictures) {
  std::vector<int64_t> sizes(lanes.count);
  for (int64_t position = 0; position < pictures; ++position) ++sizes[lanes.of(position)];
  return sizes;
}

}  // namespace

std::vector<int64_t> shard_order(const LoaderOptions& options, const std::vector<int64_t>& shards,
                                 int64_t pictures, int64_t epoch) {
  if (options.training && pictures <= options.shuffle) return epoch_order(options, pictures, epoch);
  const auto number = static_cast<uint64_t>(epoch);
  std::vector<int64_t> row(pictures);
  std::iota(row.begin(), row.end(), 0);
  if (options.training)
    row = shuffled_row(shards, pictures, Random(options.seed, {number, kShards}));

  const Lanes lanes = lanes_of(options);
  const int64_t buffer = std::max<int64_t>(1, options.shuffle / lanes.count);
  std::vector<int64_t> next;  // of each lane, a place in the row
  int64_t begin = 0;
  for (const int64_t size : lane_sizes(lanes, pictures)) {
    const Random random(options.seed, {number, kLane, next.size()});
    if (options.training) shuffle_lane(row.data() + begin, size, buffer, random);
    next.push_back(begin);
    begin += size;
  }
  std::vector<int64_t> order(pictures);
  for (int64_t position = 0; position < pictures; ++position) {
    order[position] = row[next[lanes.of(position)]++];
  }
  return order;
}

}  // namespace soft
