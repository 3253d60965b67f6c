#include "data/sampler.h"

#include <algorithm>
#include <numeric>

#include "base/random.h"

namespace soft {

int64_t batches_per_epoch(const LoaderOptions& options, int64_t pictures) {
  if (options.training) return pictures / (options.batch * options.world);
  const int64_t mine = (pictures - options.rank + options.world - 1) / options.world;
  return (mine + options.batch - 1) / options.batch;
}

std::vector<int64_t> epoch_order(const LoaderOptions& options, int64_t pictures, int64_t epoch) {
  if (options.training) {
    return Random(options.seed, {static_cast<uint64_t>(epoch)}).permutation(pictures);
  }
  std::vector<int64_t> order(pictures);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::vector<int64_t> batch_positions(const LoaderOptions& options, int64_t pictures,
                                     int64_t number) {
  std::vector<int64_t> positions;
  positions.reserve(options.batch);
  for (int64_t j = 0; j < options.batch; ++j) {
    const int64_t position = options.training
                                 ? (number * options.world + options.rank) * options.batch + j
                                 : (number * options.batch + j) * options.world + options.rank;
    if (position < pictures) positions.push_back(position);
  }
  return positions;
}

}  // namespace soft
