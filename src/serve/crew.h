// Workers between the network and the model. Requests wait in a short queue; a worker takes several
// at once: up to `most` of them, waiting at most `patience` for the others to come.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "serve/http.h"
#include "serve/metrics.h"

namespace soft {

struct CrewOptions {
  int workers = 1;
  size_t most = 8;                        // requests in a batch
  std::chrono::microseconds patience{0};  // of the oldest request in the queue
  size_t queue = 100;                     // requests that may wait
};

using Reply = std::function<void(Response)>;  // may be called from any thread

// Answers a batch, one response for each request.
using Answer = std::function<std::vector<Response>(const std::vector<const Request*>&)>;

struct Ticket {
  Request request;
  Reply reply;
  bool alone = false;  // not worth sharing a batch with
};

class Crew {
 public:
  // `hire` is called in each worker's thread and gives what that worker answers with.
  Crew(const CrewOptions& options, Metrics& metrics, std::function<Answer()> hire);
  ~Crew();  // when the present batches are answered; what still waits is dropped

  // False when the queue is full; the ticket is then untouched.
  bool take(Ticket& ticket);

 private:
  struct Job {
    Ticket ticket;
    std::chrono::steady_clock::time_point arrival;
  };

  static std::vector<Response> answers(const Answer& answer, const std::vector<Job>& batch);
  void work(const Answer& answer);
  void shut_down();
  std::vector<Job> next_batch();  // empty: nothing is left
  size_t ready() const;           // requests at the front of the queue that may share a batch
  bool may_grow() const;          // whether waiting may bring more of them

  const CrewOptions options_;
  Metrics& metrics_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> queue_;
  size_t resting_ = 0;  // workers that wait for a batch
  bool closing_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace soft
