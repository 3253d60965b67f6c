#include "base/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>

namespace soft {
namespace {

constexpr int64_t kUnknown = std::numeric_limits<int64_t>::max();

int64_t system_memory() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  int64_t kilobytes = 0;
  while (file >> key >> kilobytes) {
    if (key == "MemAvailable:") return 1024 * kilobytes;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return kUnknown;
}

// Containers limit memory here; "max" is no number and means no limit.
int64_t group_memory() {
  int64_t limit = 0, used = 0;
  std::ifstream("/sys/fs/cgroup/memory.max") >> limit;
  std::ifstream("/sys/fs/cgroup/memory.current") >> used;
  return limit > 0 ? std::max<int64_t>(limit - used, 0) : kUnknown;
}

}  // namespace

int64_t available_memory() { return std::min(system_memory(), group_memory()); }

std::string bytes_text(double bytes) {
  for (const char* unit : {"bytes", "kB", "MB", "GB", "TB"}) {
    if (bytes < 1000) return fmt::format("{:.1f} {}", bytes, unit);
    bytes /= 1000;
  }
  return fmt::format("{:.1f} PB", bytes);
}

}  // namespace soft
