#include "serve/housekeeper.h"

#include <malloc.h>

namespace soft {

Housekeeper::Housekeeper(std::function<int64_t()> activity, std::chrono::milliseconds pause)
    : activity_(std::move(activity)), pause_(pause), thread_([this] { work(); }) {}

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
