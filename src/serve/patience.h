// How long a request may take: until its deadline, or until nobody waits for its answer any more.
// Shared between the connection and whoever works for it, on any thread.
#pragma once

#include <atomic>
#include <chrono>

namespace soft {

class Patience {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Patience(Clock::time_point deadline) : deadline_(deadline) {}
  bool over() const { return abandoned_ || Clock::now() >= deadline_; }
  void abandon() { abandoned_ = true; }

 private:
  const Clock::time_point deadline_;
  std::atomic<bool> abandoned_{false};
};

}  // namespace soft
