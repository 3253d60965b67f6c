// Gives memory that requests left behind back to the system while the server goes on: what large
// bodies and pictures took would otherwise stay with the threads that freed it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace soft {

class Housekeeper {
 public:
  // Every `pause`, when `activity` has counted on since the last time.
  Housekeeper(std::function<int64_t()> activity, std::chrono::milliseconds pause);
  ~Housekeeper();
  Housekeeper(const Housekeeper&) = delete;
  Housekeeper& operator=(const Housekeeper&) = delete;

 private:
  void work();

  const std::function<int64_t()> activity_;
  const std::chrono::milliseconds pause_;
  std::mutex mutex_;
  std::condition_variable ending_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace soft
