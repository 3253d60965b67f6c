// The order in which an epoch visits pictures that lie in shards: shard after shard, from many of
// them at once, so that disks read in long stretches and batches are mixed all the same.
//
// The shards, in an order drawn for each epoch, are one long row of pictures, begun anywhere and
// cut into lanes. A lane is read from front to back through a shuffle buffer, and each place in the
// global batch (batch x world) has its lane. So every rank reads shards of its own; the epoch is
// the same for any number of ranks that share the global batch; and where it stands follows from
// the number of the batch alone. What fits into the buffer as a whole is shuffled as a whole.
#pragma once

#include <cstdint>
#include <vector>

#include "data/batch.h"

namespace soft {

// `shards` has the first picture of each shard. In evaluation nothing is shuffled, and each rank
// reads one stretch of the pictures.
std::vector<int64_t> shard_order(const LoaderOptions& options, const std::vector<int64_t>& shards,
                                 int64_t pictures, int64_t epoch);

}  // namespace soft
