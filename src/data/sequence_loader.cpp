#include "data/sequence_loader.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "data/sampler.h"

namespace soft {
namespace {

int64_t length_of(const std::vector<int32_t>& tokens) {
  const auto last = std::find_if(tokens.rbegin(), tokens.rend(), [](int32_t t) { return t != 0; });
  return static_cast<int64_t>(tokens.rend() - last);
}

std::vector<int32_t> checked(std::vector<int32_t> tokens, const SequenceSet& set, int64_t index) {
  for (int32_t token : tokens) {
    if (token < 0 || token >= set.vocabulary) {
      fail("{}: token {} is outside the vocabulary of {}", set.describe(index), token,
           set.vocabulary);
    }
  }
  if (tokens.empty()) fail("{} is empty", set.describe(index));
  return tokens;
}

}  // namespace

SequenceBatch collate(const std::vector<std::vector<int32_t>>& sequences, int sides) {
  SequenceBatch batch;
  batch.sides = sides;
  batch.count = static_cast<int64_t>(sequences.size()) / sides;
  for (const auto& tokens : sequences) {
    batch.lengths.push_back(length_of(tokens));
    batch.length = std::max(batch.length, static_cast<int64_t>(tokens.size()));
  }
  batch.tokens.assign(sequences.size() * static_cast<size_t>(batch.length), 0);  // [S, N, L]
  for (size_t i = 0; i < sequences.size(); ++i) {
    std::copy(sequences[i].begin(), sequences[i].end(),
              batch.tokens.begin() + static_cast<int64_t>(i) * batch.length);
  }
  return batch;
}

SequenceLoader::SequenceLoader(SequenceSet set, const SequenceLoaderOptions& options)
    : set_(std::move(set)) {
  if (options.batch < 1) fail_usage("a batch of {} sequences; it needs at least 1", options.batch);
  options_.batch = options.batch;
  options_.training = options.training;
  options_.seed = options.seed;
  batches_ = batches_per_epoch(options_, set_.size());
  if (batches_ == 0) {
    fail_usage("'{}' has {} examples, not enough for one batch of {}", set_.name, set_.size(),
               options.batch);
  }
}

void SequenceLoader::start(int64_t epoch, int64_t first_batch) {
  if (first_batch < 0 || first_batch > batches_) {
    fail("cannot start at batch {} of an epoch of {}", first_batch, batches_);
  }
  order_ = epoch_order(options_, set_.size(), epoch);
  epoch_ = epoch;
  number_ = first_batch;
}

bool SequenceLoader::next(SequenceBatch& batch) {
  if (number_ == batches_) return false;
  const auto positions = batch_positions(options_, set_.size(), number_);
  std::vector<std::vector<int32_t>> sequences;
  for (int side = 0; side < set_.sides; ++side) {
    for (int64_t position : positions) {
      sequences.push_back(checked(set_.load(order_[position], side), set_, order_[position]));
    }
  }
  batch = collate(sequences, set_.sides);
  for (int64_t position : positions) {
    batch.labels.push_back(set_.labels[order_[position]]);
    batch.indices.push_back(order_[position]);
  }
  batch.epoch = epoch_;
  batch.number = number_++;
  return true;
}

}  // namespace soft
