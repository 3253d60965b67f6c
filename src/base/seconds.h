// How long something takes, by a clock that nobody sets.
#pragma once

#include <chrono>

namespace soft {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace soft
