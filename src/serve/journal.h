// The server's log: a line for each request where one is asked for, and a line for each thing that
// goes wrong. Lines wait in a bounded queue for a thread of their own, so that a full disk or a
// reader that does not read never holds up a request; what does not fit is dropped and counted.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace soft {

struct JournalOptions {
  std::string access;        // a file, "-" for stderr; empty: none
  std::string errors;        // a file; empty: stderr
  bool json = false;         // a line is an object
  size_t capacity = 10'000;  // lines that may wait
};

// One request and what became of it.
struct Visit {
  std::string_view client;          // address
  std::string_view method, target;  // empty when it was not HTTP
  int status = 0;
  uint64_t bytes = 0;  // of the answer's body
  double milliseconds = 0;
};

class Journal {
 public:
  explicit Journal(const JournalOptions& options);  // an Error when a file cannot be opened
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  void visit(const Visit& visit);
  void error(std::string_view line);
  void reopen();  // soon: the files may have been renamed
  bool has_files() const { return !options_.errors.empty() || has_access_file(); }
  uint64_t dropped() const;

  // Writes what waits, for as long as that takes, but no longer than this.
  void flush(std::chrono::milliseconds most);

 private:
  struct Line {
    int stream;
    std::string text;
  };
  struct State;  // the thread's own share, which outlives us where a write hangs

  bool has_access_file() const { return !options_.access.empty() && options_.access != "-"; }
  void add(int stream, std::string text);

  const JournalOptions options_;
  std::shared_ptr<State> state_;
  std::thread writer_;
};

// The lines, for tests.
std::string access_line(const Visit& visit, std::chrono::system_clock::time_point now, bool json);
std::string http_date(std::chrono::system_clock::time_point now);

}  // namespace soft
