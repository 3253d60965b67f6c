// What every entry into LibTorch needs around it.
#pragma once

#include <c10/util/Exception.h>
#include <malloc.h>

#include <atomic>
#include <limits>
#include <memory>
#include <new>
#include <string>

#include "attention/torch.h"
#include "base/error.h"
#include "base/parallel.h"
#include "model/checkpoint.h"
#include "model/classifier.h"
#include "wing/wing.h"

namespace soft {

// LibTorch makes a new pool of threads each time it is told their number, even when it has them.
inline void tell_threads(int count) {
  static std::atomic<int> told{0};
  if (told.exchange(count) != count) at::set_num_threads(count);
}

// LibTorch has no exception of its own for want of memory.
[[noreturn]] inline void rethrow(const c10::Error& error) {
  const std::string what = error.what_without_backtrace();
  if (what.find("can't allocate memory") != std::string::npos) throw std::bad_alloc();
  fail("LibTorch: {}", what);
}

// Runs a command with LibTorch's errors translated, without their backtraces, and its threads set.
template <class Command>
auto guarded(int threads, const Command& command) {
  set_threads(threads);
  tell_threads(soft::threads());
  try {
    return command();
  } catch (const c10::Error& error) {
    rethrow(error);
  }
}

inline std::shared_ptr<Classifier> make_model(const TorchModel& request) {
  auto model = std::make_shared<Classifier>(request.spec);
  load_weights(*model, request.weights);
  model->eval();
  return model;
}

// Every step takes and frees the same large tensors. Handing them back to the kernel each time
// costs a tenth of the step in page faults.
inline void keep_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

}  // namespace soft
