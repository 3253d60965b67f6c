// From sequences to batches. They depend on the seed and the epoch alone: a batch takes less than a
// thousandth of a training step to make, so the consumer makes it, and no worker can change the
// order.
#pragma once

#include <cstdint>
#include <vector>

#include "data/batch.h"
#include "data/sequence.h"

namespace soft {

struct SequenceBatch {
  int64_t count = 0;             // N
  int sides = 1;                 // S: 2 where pairs are compared
  int64_t length = 0;            // L, of the longest sequence in the batch
  std::vector<int32_t> tokens;   // [S, N, L]; 0 is padding, and nothing else is
  std::vector<int64_t> lengths;  // [S, N], without the padding at the end
  std::vector<int64_t> labels;   // [N]
  std::vector<int64_t> indices;  // [N], places in the set
  int64_t epoch = 0, number = 0;
};

// The sequences as one batch; labels and indices stay empty.
SequenceBatch collate(const std::vector<std::vector<int32_t>>& sequences, int sides = 1);

struct SequenceLoaderOptions {
  int64_t batch = 32;
  bool training = false;  // shuffle, drop the incomplete last batch
  uint64_t seed = 42;
};

class SequenceLoader {
 public:
  SequenceLoader(SequenceSet set, const SequenceLoaderOptions& options);

  const SequenceSet& set() const { return set_; }
  int64_t batches() const { return batches_; }  // per epoch

  void start(int64_t epoch, int64_t first_batch = 0);
  bool next(SequenceBatch& batch);  // false after the last one of the epoch

 private:
  SequenceSet set_;
  LoaderOptions options_;
  int64_t batches_ = 0;
  std::vector<int64_t> order_;
  int64_t epoch_ = 0, number_ = 0;
};

}  // namespace soft
