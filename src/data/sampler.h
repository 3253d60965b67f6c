// Which pictures meet in which batch, for one of `world` ranks that share an epoch.
#pragma once

#include <cstdint>
#include <vector>

#include "data/batch.h"

namespace soft {

// Batches this rank sees in an epoch. Training drops the incomplete last batch so that all ranks
// make the same number of steps; evaluation keeps every picture.
int64_t batches_per_epoch(const LoaderOptions& options, int64_t pictures);

// The order in which an epoch visits the pictures: shuffled in training.
std::vector<int64_t> epoch_order(const LoaderOptions& options, int64_t pictures, int64_t epoch);

// Positions in that order that make up one batch of this rank. In training the batches of all
// ranks together are one slice of the order, the same slice whatever the number of ranks.
std::vector<int64_t> batch_positions(const LoaderOptions& options, int64_t pictures,
                                     int64_t number);

}  // namespace soft
