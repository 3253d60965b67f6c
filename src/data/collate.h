// Makes one batch: reads and augments its pictures, mixes and normalises them into one block of
// floats.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "data/batch.h"
#include "data/dataset.h"
#include "data/mix.h"

namespace soft {

// One batch of an epoch that visits the data set in `order`.
struct BatchPlan {
  const std::vector<int64_t>& order;
  int64_t epoch = 0;
  int64_t number = 0;
  const std::atomic<bool>& cancel;  // leave the batch unfinished once this turns true
};

class Collator {
 public:
  // Both must outlive the collator.
  Collator(const Dataset& dataset, const LoaderOptions& options);

  // Overwrites `batch`, reusing its memory. May be called from several threads at once.
  void collate(const BatchPlan& plan, Batch& batch) const;

 private:
  void collate_training(const BatchPlan& plan, Batch& batch) const;
  void collate_evaluation(const BatchPlan& plan, Batch& batch) const;
  // A picture that took part in the batch, and what it is.
  struct Taken {
    Image image;
    int64_t index = 0, label = 0;
  };
  Taken training_picture(const BatchPlan& plan, int64_t position) const;
  std::vector<Taken> training_pictures(const BatchPlan& plan,
                                       const std::vector<int64_t>& positions) const;
  void write(const std::vector<Taken>& pictures, const std::vector<Taken>& partners, const Mix& mix,
             Batch& batch) const;
  Random random_of(const BatchPlan& plan, uint64_t purpose, int64_t item) const;

  const Dataset& dataset_;
  const LoaderOptions& options_;
  NormaliseTable table_;
};

}  // namespace soft
