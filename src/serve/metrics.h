// What the server counts, in Prometheus' text format.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace soft {

// Counts of values up to each bound, and their sum.
class Histogram {
 public:
  explicit Histogram(std::vector<double> bounds)
      : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}
  void add(double value);
  // `labels`: "" or "route=\"/live\""
  std::string text(std::string_view name, std::string_view labels) const;

 private:
  std::vector<double> bounds_;
  std::vector<uint64_t> counts_;  // the last one: above all bounds
  double sum_ = 0;
};

// Safe to use from any thread.
class Metrics {
 public:
  Metrics();
  void count_request(std::string_view route, int status, double seconds);
  void count_batch(size_t size);
  std::string text() const;

  std::atomic<int64_t> answered{0};  // requests of every kind
  std::atomic<int64_t> connections{0};
  std::atomic<int64_t> queued{0};
  std::atomic<bool> draining{false};
  std::function<uint64_t()> dropped_lines;  // of the log; set before anybody asks

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, uint64_t> requests_;  // by route and status
  std::map<std::string, Histogram, std::less<>> latency_;     // by route
  Histogram batches_;
};

int64_t resident_bytes();  // of this process

}  // namespace soft
