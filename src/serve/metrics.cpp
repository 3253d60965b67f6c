#include "serve/metrics.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace soft {
namespace {

const std::vector<double> kSeconds{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                   0.1,   0.25,   0.5,   1,    2.5,   10};
const std::vector<double> kBatchSizes{1, 2, 4, 8, 16, 32, 64};

std::string heading(std::string_view name, std::string_view type, std::string_view help) {
  return fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
}

std::string gauge(std::string_view name, std::string_view help, int64_t value) {
  return heading(name, "gauge", help) + fmt::format("{} {}\n", name, value);
}

}  // namespace

void Histogram::add(double value) {
  const auto bound = std::lower_bound(bounds_.begin(), bounds_.end(), value);
  ++counts_[bound - bounds_.begin()];
  sum_ += value;
}

std::string Histogram::text(std::string_view name, std::string_view labels) const {
  const std::string_view comma = labels.empty() ? "" : ",";
  const std::string alone = labels.empty() ? "" : fmt::format("{{{}}}", labels);
  std::string text;
  uint64_t total = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    total += counts_[i];
    const std::string bound = i < bounds_.size() ? fmt::format("{}", bounds_[i]) : "+Inf";
    text += fmt::format("{}_bucket{{{}{}le=\"{}\"}} {}\n", name, labels, comma, bound, total);
  }
  return text + fmt::format("{0}_sum{1} {2}\n{0}_count{1} {3}\n", name, alone, sum_, total);
}

Metrics::Metrics() : batches_(kBatchSizes) {}

void Metrics::count_request(std::string_view route, int status, double seconds) {
  ++answered;
  const std::lock_guard lock(mutex_);
  ++requests_[{std::string(route), status}];
  latency_.try_emplace(std::string(route), kSeconds).first->second.add(seconds);
}

void Metrics::count_batch(size_t size) {
  const std::lock_guard lock(mutex_);
  batches_.add(static_cast<double>(size));
}

std::string Metrics::text() const {
  const std::lock_guard lock(mutex_);
  std::string text = heading("soft_requests_total", "counter", "Answered requests.");
  for (const auto& [key, count] : requests_) {
    text += fmt::format("soft_requests_total{{route=\"{}\",code=\"{}\"}} {}\n", key.first,
                        key.second, count);
  }
  constexpr std::string_view kLatency = "soft_request_seconds";
  text += heading(kLatency, "histogram", "From a request's first byte to its answer's last.");
  for (const auto& [route, histogram] : latency_) {
    text += histogram.text(kLatency, fmt::format("route=\"{}\"", route));
  }
  text += heading("soft_batch_size", "histogram", "Pictures that a worker took at once.");
  text += batches_.text("soft_batch_size", "");
  text += gauge("soft_queue_length", "Pictures that wait for a worker.", queued);
  text += gauge("soft_open_connections", "Connections that are open.", connections);
  text += gauge("soft_draining", "1 while the server finishes its last requests.", draining);
  if (dropped_lines) {
    text += heading("soft_log_dropped_total", "counter", "Lines of the log that were dropped.");
    text += fmt::format("soft_log_dropped_total {}\n", dropped_lines());
  }
  return text + gauge("process_resident_memory_bytes", "Memory in RAM.", resident_bytes());
}

int64_t resident_bytes() {
  int64_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace soft
