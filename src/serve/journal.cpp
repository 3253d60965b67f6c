#include "serve/journal.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <optional>

#include "base/error.h"
#include "base/json.h"
#include "base/printable.h"

namespace soft {
namespace {

using SystemClock = std::chrono::system_clock;

constexpr int kAccess = 0, kErrors = 1;
constexpr std::chrono::milliseconds kFarewell{1'000};
constexpr int kPollMilliseconds = 100;

std::tm utc(SystemClock::time_point now) {
  const std::time_t seconds = SystemClock::to_time_t(now);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return parts;
}

// 2026-11-16T19:43:28.123Z
std::string timestamp(SystemClock::time_point now) {
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", utc(now), since.count() % 1000);
}

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

int opened(const std::string& path) {
  return open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0640);
}

// Gives up on a reader that does not read once `hurry` says so. A write of at most PIPE_BUF bytes
// does not block when poll says that there is room.
template <class Hurry>
void write_patiently(int file, std::string_view text, const Hurry& hurry) {
  while (!text.empty()) {
    pollfd room{file, POLLOUT, 0};
    const int found = poll(&room, 1, kPollMilliseconds);
    if (found == 0 && hurry()) return;
    if (found == 0 || (found < 0 && errno == EINTR)) continue;
    const ssize_t count = write(file, text.data(), std::min<size_t>(text.size(), PIPE_BUF));
    if (count < 0 && errno != EINTR && errno != EAGAIN) return;  // nobody is there any more
    if (count > 0) text.remove_prefix(static_cast<size_t>(count));
  }
}

}  // namespace

struct Journal::State {
  std::mutex mutex;
  std::condition_variable changed;  // for the writer
  std::condition_variable written;  // for whoever waits for it
  std::deque<Line> lines;
  size_t capacity = 0;
  bool writing = false, reopening = false, closing = false;
  std::atomic<bool> hurry{false};
  std::atomic<uint64_t> dropped{0};
  std::string paths[2];  // empty: stderr
  int files[2] = {STDERR_FILENO, STDERR_FILENO};

  ~State() {
    for (const int file : files) {
      if (file != STDERR_FILENO && file >= 0) close(file);
    }
  }

  void open_files() {
    for (const int stream : {kAccess, kErrors}) {
      if (paths[stream].empty()) continue;
      const int file = opened(paths[stream]);
      if (file < 0) fail("cannot write the log '{}': {}", paths[stream], std::strerror(errno));
      files[stream] = file;
    }
  }

  // A file that cannot be opened leaves the old one in use.
  void reopen_files() {
    for (const int stream : {kAccess, kErrors}) {
      if (paths[stream].empty()) continue;
      const int file = opened(paths[stream]);
      if (file >= 0) close(std::exchange(files[stream], file));
    }
  }

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return closing || reopening || !lines.empty(); });
      const bool anew = std::exchange(reopening, false);
      if (lines.empty() && !anew) return;  // closing
      std::optional<Line> line;
      if (!lines.empty()) {
        line = std::move(lines.front());
        lines.pop_front();
      }
      writing = true;
      lock.unlock();  // whatever the disk does, nobody waits for it
      if (anew) reopen_files();
      if (line) write_patiently(files[line->stream], line->text, [&] { return hurry.load(); });
      lock.lock();
      writing = false;
      if (lines.empty()) written.notify_all();
    }
  }
};

std::string http_date(SystemClock::time_point now) {
  return fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", utc(now));
}

std::string access_line(const Visit& visit, SystemClock::time_point now, bool json) {
  const std::string method = printable(visit.method), target = printable(visit.target);
  if (json) {
    return dumped({{"time", timestamp(now)},
                   {"client", visit.client},
                   {"method", method},
                   {"path", target},
                   {"status", visit.status},
                   {"bytes", visit.bytes},
                   {"ms", visit.milliseconds}});
  }
  std::string quoted;
  for (const char c : method.empty() ? "-" : method + " " + target) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return fmt::format("{} {} \"{}\" {} {} {:.1f}\n", timestamp(now), visit.client, quoted,
                     visit.status, visit.bytes, visit.milliseconds);
}

Journal::Journal(const JournalOptions& options)
    : options_(options), state_(std::make_shared<State>()) {
  state_->capacity = options.capacity;
  if (has_access_file()) state_->paths[kAccess] = options.access;
  state_->paths[kErrors] = options.errors;
  state_->open_files();
  writer_ = std::thread([state = state_] { state->run(); });
}

// Ends with a line half written rather than never. A write to a disk that hangs cannot be called
// back: its thread is then left behind.
Journal::~Journal() {
  flush(kFarewell);
  {
    const std::lock_guard lock(state_->mutex);
    state_->lines.clear();
    state_->closing = true;
    state_->hurry = true;
  }
  state_->changed.notify_all();
  flush(kFarewell);
  std::unique_lock lock(state_->mutex);
  const bool hangs = state_->writing;
  lock.unlock();
  hangs ? writer_.detach() : writer_.join();
}

uint64_t Journal::dropped() const { return state_->dropped; }

void Journal::add(int stream, std::string text) {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->lines.size() >= state_->capacity) {
      ++state_->dropped;
      return;
    }
    state_->lines.push_back({stream, std::move(text)});
  }
  state_->changed.notify_one();
}

void Journal::visit(const Visit& visit) {
  if (options_.access.empty()) return;
  add(kAccess, access_line(visit, SystemClock::now(), options_.json));
}

void Journal::error(std::string_view line) {
  if (options_.json) {
    return add(kErrors, dumped({{"time", timestamp(SystemClock::now())}, {"message", line}}));
  }
  const bool to_file = !options_.errors.empty();
  add(kErrors,
      fmt::format("{}soft: {}\n", to_file ? timestamp(SystemClock::now()) + " " : "", line));
}

void Journal::reopen() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->reopening = true;
  }
  state_->changed.notify_one();
}

void Journal::flush(std::chrono::milliseconds most) {
  std::unique_lock lock(state_->mutex);
  state_->written.wait_for(lock, most, [&] { return state_->lines.empty() && !state_->writing; });
}

}  // namespace soft
