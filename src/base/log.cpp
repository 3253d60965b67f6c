#include "base/log.h"

#include <cstdio>
#include <memory>
#include <mutex>
#include <set>

#include "base/log_sink.h"
#include "base/open_line.h"
#include "base/printable.h"

namespace soft {
namespace {

using Sink = std::function<void(const std::string&)>;

std::mutex sink_mutex;
std::shared_ptr<const Sink> sink;  // none: stderr

std::shared_ptr<const Sink> present_sink() {
  const std::lock_guard<std::mutex> lock(sink_mutex);
  return sink;
}

}  // namespace

void set_log_sink(Sink next) {
  const std::lock_guard<std::mutex> lock(sink_mutex);
  sink = next ? std::make_shared<const Sink>(std::move(next)) : nullptr;
}

std::atomic<bool>& open_line() {
  static std::atomic<bool> open{false};
  return open;
}

void log_line(const std::string& line) {
  if (const auto elsewhere = present_sink()) return (*elsewhere)(shown(line));
  const std::string before = open_line().exchange(false) ? kEraseLine : "";
  // One write, so that threads do not interleave.
  const std::string text = before + "soft: " + shown(line) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void log_once(const std::string& line) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::lock_guard<std::mutex> lock(mutex);
  if (said.insert(line).second) log_line(line);
}

}  // namespace soft
