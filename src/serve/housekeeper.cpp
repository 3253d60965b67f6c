#include "serve/housekeeper.h"

#include <malloc.h>

namespace soft {
namespace {

// malloc_trim leaves the free end of other threads' arenas as it is, and by itself the allocator
// lets that grow to 64 MB each: a block of a megabyte goes back when it is freed, and so does an
// end that has become as long.
void keep_little() {
  constexpr int kMegabyte = 1 << 20;
  mallopt(M_MMAP_THRESHOLD, kMegabyte);
  mallopt(M_TRIM_THRESHOLD, kMegabyte);
}

}  // namespace

Housekeeper::Housekeeper(std::function<int64_t()> activity, std::chrono::milliseconds pause)
    : activity_(std::move(activity)), pause_(pause) {
  keep_little();
  thread_ = std::thread([this] { work(); });
}

Housekeeper::~Housekeeper() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  ending_.notify_one();
  thread_.join();
}

void Housekeeper::work() {
  int64_t seen = activity_();
  std::unique_lock lock(mutex_);
  while (!ending_.wait_for(lock, pause_, [this] { return over_; })) {
    const int64_t now = activity_();
    if (now == seen) continue;
    seen = now;
    malloc_trim(0);
  }
}

}  // namespace soft
