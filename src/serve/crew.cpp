#include "serve/crew.h"

#include <algorithm>
#include <system_error>

#include "base/error.h"
#include "base/log.h"

namespace soft {

void Ticket::answer(Response response) {
  const Reply once = std::exchange(reply, nullptr);
  if (once) once(std::move(response));
}

Crew::Crew(const CrewOptions& options, Metrics& metrics, std::function<Labour()> hire)
    : options_(options), metrics_(metrics) {
  try {
    for (int i = 0; i < options.workers; ++i) {
      workers_.emplace_back([this, hire] { work(hire()); });
    }
  } catch (const std::system_error& error) {
    const size_t started = workers_.size();
    shut_down();
    fail("only {} of {} workers could be started: {}; use fewer --workers", started,
         options.workers, error.code().message());
  }
}

Crew::~Crew() { shut_down(); }

bool Crew::close() {
  std::deque<Job> dropped;  // without the lock: a ticket may be the last to know of its connection
  const std::lock_guard lock(mutex_);
  closing_ = true;
  dropped.swap(queue_);
  waiting_ = 0;
  changed_.notify_all();
  return busy_ == 0;
}

void Crew::shut_down() {
  close();
  for (std::thread& worker : workers_) worker.join();
}

bool Crew::take(Ticket& ticket) {
  {
    const std::lock_guard lock(mutex_);
    // A request with many pictures may find the queue shorter than itself, but not one before it.
    const bool full = waiting_ > 0 && waiting_ + ticket.weight > options_.queue;
    if (closing_ || full) return false;
    waiting_ += ticket.weight;
    metrics_.queued += static_cast<int64_t>(ticket.weight);
    queue_.push_back({std::move(ticket), std::chrono::steady_clock::now()});
  }
  changed_.notify_one();
  return true;
}

size_t Crew::ready() const {
  size_t count = 0, weight = 0;
  while (count < queue_.size()) {
    weight += queue_[count].ticket.weight;
    if (count > 0 && weight > options_.most) break;
    ++count;
  }
  return count;
}

std::vector<Ticket> Crew::next_batch() {
  std::unique_lock lock(mutex_);
  ++resting_;
  changed_.wait(lock, [&] { return closing_ || !queue_.empty(); });
  while (!closing_ && !queue_.empty() && waiting_ < options_.most) {  // others may join it
    const auto deadline = queue_.front().arrival + options_.patience;
    if (changed_.wait_until(lock, deadline) == std::cv_status::timeout) break;
  }
  // Workers that rest, too, get their share: two halves side by side end sooner than one whole.
  const size_t count = std::min(ready(), (queue_.size() + resting_ - 1) / resting_);
  --resting_;
  std::vector<Ticket> batch;
  size_t weight = 0;
  for (size_t i = 0; i < count; ++i) {
    weight += queue_.front().ticket.weight;
    batch.push_back(std::move(queue_.front().ticket));
    queue_.pop_front();
  }
  busy_ += batch.empty() ? 0 : 1;
  waiting_ -= weight;
  metrics_.queued -= static_cast<int64_t>(weight);
  if (!queue_.empty()) changed_.notify_one();
  if (options_.counted && weight > 0) metrics_.count_batch(weight);
  return batch;
}

void Crew::work(const Labour& labour) {
  for (;;) {
    std::vector<Ticket> batch = next_batch();
    if (batch.empty()) {
      const std::lock_guard lock(mutex_);
      if (closing_) return;
      continue;  // another worker was quicker
    }
    try {
      labour(batch);
    } catch (const std::exception& error) {
      log("a batch of {} failed: {}", batch.size(), error.what());
      for (Ticket& ticket : batch) {
        ticket.answer(error_response(500, "unexpected failure; the server's log has it"));
      }
    }
    batch.clear();
    const std::lock_guard lock(mutex_);
    --busy_;
  }
}

}  // namespace soft
