#include "base/parallel.h"

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <exception>

namespace soft {

int hardware_threads() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return std::max(1, omp_get_num_procs());
  return std::max(1, CPU_COUNT(&allowed));
}

int threads() { return omp_get_max_threads(); }

void set_threads(int count) { omp_set_num_threads(count > 0 ? count : hardware_threads()); }

void parallel_for(int64_t count, const std::function<void(int64_t, int64_t)>& body) {
  const int64_t workers = std::min<int64_t>(threads(), count);
  if (workers <= 1 || omp_in_parallel()) {
    if (count > 0) body(0, count);
    return;
  }
  std::exception_ptr first;
#pragma omp parallel for num_threads(static_cast <int>(workers)) schedule(static, 1)
  for (int64_t worker = 0; worker < workers; ++worker) {
    try {
      body(count * worker / workers, count * (worker + 1) / workers);
    } catch (...) {
#pragma omp critical(soft_parallel_for)
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace soft
