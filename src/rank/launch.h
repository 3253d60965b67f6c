// Starts the ranks of this machine, joins what they print, and starts all of them again when one
// dies.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace soft {

struct LaunchRequest {
  int ranks = 1;            // on this machine
  int nodes = 1, node = 0;  // machines, and which of them this is
  std::string master = "127.0.0.1";
  int port = 0;      // 0: a free one, another at each attempt
  int restarts = 3;  // at most
  std::string program;
  // The words behind the program's name; empty when this attempt cannot be made. Attempts count
  // from 0.
  std::function<std::vector<std::string>(int attempt)> arguments;
};

struct LaunchEvents {
  std::function<void(int rank, bool error, const std::string& line)> line;  // with its end cut off
  std::function<void(const std::string& text)> notice;
};

struct LaunchOutcome {
  int code = 0;     // what the first rank that failed ended with; 1 for a signal
  std::string why;  // it failed; empty when none did
  bool interrupted = false;
};

// SIGINT, SIGTERM and SIGHUP are passed on; after one of them nothing is started again. To be
// called from a process without other threads.
LaunchOutcome launch(const LaunchRequest& request, const LaunchEvents& events);

// The processors of one of several ranks: neighbours, in equal shares as far as they go.
std::vector<int> share_of_cores(const std::vector<int>& cores, int rank, int ranks);

}  // namespace soft
