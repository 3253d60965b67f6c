#include "base/log.h"

#include <cstdio>
#include <mutex>
#include <set>

namespace soft {

void log_line(const std::string& line) {
  const std::string text = "soft: " + line + "\n";  // one write, so that threads do not interleave
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void log_once(const std::string& line) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::lock_guard<std::mutex> lock(mutex);
  if (said.insert(line).second) log_line(line);
}

}  // namespace soft
