// A case in a process of its own: its memory is its own, and when it does not fit nobody else
// falls.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/json.h"

namespace soft {

struct ChildResult {
  Json value;
  std::string failure;  // what the child threw, or how it died; empty when it did neither

  bool ok() const { return failure.empty(); }
};

// Call it before anything has started threads: the child has only the thread that forked. It may
// take the memory that is free now and no more; beyond that its allocations fail.
ChildResult in_child(const std::function<Json()>& work);

// By how many bytes resident memory rose at most while `work` ran.
int64_t peak_growth(const std::function<void()>& work);

}  // namespace soft
