// From a data set to batches: worker threads read, augment and collate ahead of the consumer. The
// batches depend on the seed, the epoch and the rank, never on the number of workers.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "data/batch.h"
#include "data/collate.h"
#include "data/dataset.h"

namespace soft {

class Loader {
 public:
  Loader(Dataset dataset, LoaderOptions options);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  const Dataset& dataset() const { return dataset_; }
  const LoaderOptions& options() const { return options_; }
  int64_t batches() const { return batches_; }  // per epoch, on this rank

  // The pictures in the order in which all ranks together visit them.
  std::vector<int64_t> order_of(int64_t epoch) const;

  // Begins an epoch, or continues one at a batch; what was under way is dropped.
  void start(int64_t epoch, int64_t first_batch = 0);

  // The next batch, good until the following call; nullptr after the last one of the epoch. An
  // error met while a batch was made is thrown when its turn comes.
  const Batch* next();

 private:
  struct Slot {
    Batch batch;
    bool ready = false;
    std::exception_ptr error;
  };

  void work();
  void shut_down();
  bool may_claim() const { return claimed_ < end_ && claimed_ < released_ + capacity(); }
  int64_t capacity() const { return static_cast<int64_t>(slots_.size()); }
  Slot& slot_of(int64_t number) { return slots_[number % capacity()]; }

  const Dataset dataset_;
  const LoaderOptions options_;
  const Collator collator_;
  const int64_t batches_;

  std::mutex mutex_;  // guards the counters; a claimed slot belongs to its worker until it is ready
  std::condition_variable wake_workers_, wake_consumer_;
  std::vector<Slot> slots_;     // batch n lives in slot n modulo their number
  std::vector<int64_t> order_;  // of the epoch; changes only while no worker is busy
  int64_t epoch_ = 0;
  int64_t end_ = 0;       // batches in the epoch
  int64_t claimed_ = 0;   // the next batch to make
  int64_t next_ = 0;      // the next batch to hand out
  int64_t released_ = 0;  // the slots of earlier batches may be overwritten
  int busy_ = 0;          // workers making a batch
  bool stop_ = false;
  std::atomic<bool> cancel_{false};
  std::vector<std::thread> workers_;
};

}  // namespace soft
