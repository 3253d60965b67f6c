#include "serve/crew.h"

#include <algorithm>
#include <system_error>

#include "base/error.h"
#include "base/log.h"

namespace soft {

Crew::Crew(const CrewOptions& options, Metrics& metrics, std::function<Answer()> hire)
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

void Crew::shut_down() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    queue_.clear();
  }
  changed_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

bool Crew::take(Ticket& ticket) {
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= options_.queue) return false;
    queue_.push_back({std::move(ticket), std::chrono::steady_clock::now()});
    metrics_.queued = static_cast<int64_t>(queue_.size());
  }
  changed_.notify_one();
  return true;
}

size_t Crew::ready() const {
  if (queue_.empty()) return 0;
  if (queue_.front().ticket.alone) return 1;
  const auto end =
      std::find_if(queue_.begin(), queue_.end(), [](const Job& job) { return job.ticket.alone; });
  return std::min<size_t>(end - queue_.begin(), options_.most);
}

bool Crew::may_grow() const {
  return !queue_.empty() && !queue_.front().ticket.alone && ready() == queue_.size() &&
         ready() < options_.most;
}

std::vector<Crew::Job> Crew::next_batch() {
  std::unique_lock lock(mutex_);
  ++resting_;
  changed_.wait(lock, [&] { return closing_ || !queue_.empty(); });
  while (!closing_ && may_grow()) {
    const auto deadline = queue_.front().arrival + options_.patience;
    if (changed_.wait_until(lock, deadline) == std::cv_status::timeout) break;
  }
  // Workers that rest, too, get their share: two halves side by side end sooner than one whole.
  const size_t count = std::min(ready(), (queue_.size() + resting_ - 1) / resting_);
  --resting_;
  const auto end = queue_.begin() + static_cast<ptrdiff_t>(count);
  std::vector<Job> batch(std::make_move_iterator(queue_.begin()), std::make_move_iterator(end));
  queue_.erase(queue_.begin(), end);
  metrics_.queued = static_cast<int64_t>(queue_.size());
  if (!queue_.empty()) changed_.notify_one();
  return batch;
}

std::vector<Response> Crew::answers(const Answer& answer, const std::vector<Job>& batch) {
  std::vector<const Request*> requests;
  for (const Job& job : batch) requests.push_back(&job.ticket.request);
  try {
    return answer(requests);
  } catch (const std::exception& error) {
    log("a batch of {} failed: {}", batch.size(), error.what());
    const Response failed = error_response(500, "unexpected failure; the server's log has it");
    return std::vector<Response>(batch.size(), failed);
  }
}

void Crew::work(const Answer& answer) {
  for (;;) {
    std::vector<Job> batch = next_batch();
    if (batch.empty()) {
      const std::lock_guard lock(mutex_);
      if (closing_) return;
      continue;  // another worker was quicker
    }
    metrics_.count_batch(batch.size());
    std::vector<Response> responses = answers(answer, batch);
    for (size_t i = 0; i < batch.size(); ++i) batch[i].ticket.reply(std::move(responses[i]));
  }
}

}  // namespace soft
