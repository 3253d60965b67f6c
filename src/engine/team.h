// Workers that share the units of one job, each taking the next when it is free, so that a core
// which lags behind holds nobody up. What a unit computes must not depend on who takes it.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/hold_signals.h"
#include "base/parallel.h"

namespace soft {

// Calls body(worker, unit) for every unit of [0, count), with worker in [0, team).
template <class Body>
void share(int team, int64_t count, const Body& body) {
  std::atomic<int64_t> next{0};
  parallel_for(std::min<int64_t>(team, count), [&](int64_t begin, int64_t) {
    const HoldSignals held;
    for (int64_t unit = next++; unit < count; unit = next++) body(static_cast<int>(begin), unit);
  });
}

// The number of threads that regions started from here get, until the end of the scope.
class ThreadScope {
 public:
  explicit ThreadScope(int count) : before_(threads()) { set_threads(count); }
  ~ThreadScope() { set_threads(before_); }
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;
};

}  // namespace soft
