#include "data/loader.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/parallel.h"
#include "data/sampler.h"
#include "data/shard_order.h"

namespace soft {
namespace {

LoaderOptions checked(LoaderOptions options, const Dataset& dataset) {
  if (options.batch < 1) fail_usage("a batch of {} pictures; it needs at least 1", options.batch);
  if (options.world < 1 || options.rank < 0 || options.rank >= options.world) {
    fail_usage("rank {} of {} does not exist", options.rank, options.world);
  }
  if (options.preprocessing.size < 1) {
    fail_usage("pictures of {} pixels a side; they need at least 1", options.preprocessing.size);
  }
  if (options.shuffle < 1) fail_usage("a shuffle buffer of {} pictures", options.shuffle);
  if (options.workers < 0) fail_usage("{} loader workers; use 0 for all cores", options.workers);
  if (options.workers == 0) options.workers = hardware_threads();
  if (options.training) validate(options.augmentation);
  if (options.training && batches_per_epoch(options, dataset.size()) == 0) {
    fail_usage("'{}' has {} training pictures, not enough for one batch of {} x {} rank(s)",
               dataset.name, dataset.size(), options.batch, options.world);
  }
  return options;
}

}  // namespace

Loader::Loader(Dataset dataset, LoaderOptions options)
    : dataset_(std::move(dataset)),
      options_(checked(options, dataset_)),
      collator_(dataset_, options_),
      batches_(batches_per_epoch(options_, dataset_.size())),
      // One in the making per worker, one ready, one in the consumer's hands.
      slots_(options_.workers + 2) {
  try {
    for (int i = 0; i < options_.workers; ++i) workers_.emplace_back([this] { work(); });
  } catch (...) {
    shut_down();
    throw;
  }
}

Loader::~Loader() { shut_down(); }

void Loader::shut_down() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
    cancel_ = true;
  }
  wake_workers_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

std::vector<int64_t> Loader::order_of(int64_t epoch) const {
  if (dataset_.shards.empty()) return epoch_order(options_, dataset_.size(), epoch);
  return shard_order(options_, dataset_.shards, dataset_.size(), epoch);
}

void Loader::start(int64_t epoch, int64_t first_batch) {
  if (first_batch < 0 || first_batch > batches_) {
    fail("cannot start at batch {} of an epoch of {}", first_batch, batches_);
  }
  std::vector<int64_t> order = order_of(epoch);
  std::unique_lock<std::mutex> lock(mutex_);
  end_ = claimed_;  // nothing more is claimed
  cancel_ = true;
  wake_consumer_.wait(lock, [this] { return busy_ == 0; });
  cancel_ = false;
  for (Slot& slot : slots_) {
    slot.ready = false;
    slot.error = nullptr;
  }
  order_ = std::move(order);
  epoch_ = epoch;
  claimed_ = next_ = released_ = first_batch;
  end_ = batches_;
  wake_workers_.notify_all();
}

const Batch* Loader::next() {
  std::unique_lock<std::mutex> lock(mutex_);
  released_ = next_;
  wake_workers_.notify_all();
  if (next_ == end_) return nullptr;
  Slot& slot = slot_of(next_);
  wake_consumer_.wait(lock, [&] { return slot.ready; });
  ++next_;
  slot.ready = false;
  if (slot.error) std::rethrow_exception(std::exchange(slot.error, nullptr));
  return &slot.batch;
}

void Loader::work() {
  set_threads(1);  // the workers are the parallelism; no OpenMP team inside each
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    wake_workers_.wait(lock, [this] { return stop_ || may_claim(); });
    if (stop_) return;
    const int64_t number = claimed_++;
    const int64_t epoch = epoch_;
    Slot& slot = slot_of(number);
    ++busy_;
    lock.unlock();
    try {
      collator_.collate({order_, epoch, number, cancel_}, slot.batch);
    } catch (...) {
      slot.error = std::current_exception();
    }
    lock.lock();
    slot.ready = true;
    --busy_;
    wake_consumer_.notify_all();
  }
}

}  // namespace soft
