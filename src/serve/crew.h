// Workers between the network and the model. Requests wait in a short queue; a worker takes several
// at once: up to `most` pictures, waiting at most `patience` for the others to come.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "serve/http.h"
#include "serve/metrics.h"

namespace soft {

struct CrewOptions {
  int workers = 1;
  size_t most = 8;                        // pictures in a batch
  std::chrono::microseconds patience{0};  // of the oldest request in the queue
  size_t queue = 100;                     // pictures that may wait
  bool counted = true;                    // its batches are those of the model
};

class Work;

struct Ticket {
  Request request;
  Reply reply;
  size_t weight = 1;  // pictures
  std::shared_ptr<Work> work =
      {};  // what the request has become on its way; the crew looks at neither

  // Replies, unless somebody has.
  void answer(Response response);
};

// Sees to it that each ticket is answered, by itself or by whom it hands it to.
using Labour = std::function<void(std::vector<Ticket>&)>;

class Crew {
 public:
  // `hire` is called in each worker's thread and gives what that worker does.
  Crew(const CrewOptions& options, Metrics& metrics, std::function<Labour()> hire);
  ~Crew();  // when the present batches are done; what still waits is dropped

  // False when the queue is full; the ticket is then untouched.
  bool take(Ticket& ticket);

  // From now on nothing is begun. Whether all workers have put their tools down: if not, waiting
  // for them may take as long as their work.
  bool close();

 private:
  struct Job {
    Ticket ticket;
    std::chrono::steady_clock::time_point arrival;
  };

  void work(const Labour& labour);
  void shut_down();
  std::vector<Ticket> next_batch();  // empty: nothing is left
  size_t ready() const;              // requests at the front of the queue that share a batch

  const CrewOptions options_;
  Metrics& metrics_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> queue_;
  size_t waiting_ = 0;  // pictures in the queue
  size_t resting_ = 0;  // workers that wait for a batch,
  size_t busy_ = 0;     // and those that have one
  bool closing_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace soft
