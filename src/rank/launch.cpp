#include "rank/launch.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "base/descriptor.h"
#include "base/error.h"
#include "rank/socket.h"

namespace soft {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

// A rank that lost another leaves by itself within two seconds.
constexpr auto kUntilTerm = 4s, kUntilKill = 10s;

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&set, signal);
  return set;
}

// Signals as bytes to read, for as long as one lives.
class Signals {
 public:
  Signals() {
    const sigset_t set = watched_signals();
    sigprocmask(SIG_BLOCK, &set, &before_);
    descriptor_ = Descriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!descriptor_.ok()) fail("no signalfd: {}", std::strerror(errno));
  }
  ~Signals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

  int get() const { return descriptor_.get(); }
  const sigset_t& before() const { return before_; }
  int next() const {  // 0: none
    signalfd_siginfo info{};
    return ::read(get(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
  }

 private:
  sigset_t before_{};
  Descriptor descriptor_;
};

std::vector<int> allowed_cores() {
  cpu_set_t set;
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

void pin_to(const std::vector<int>& cores) {
  if (cores.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int core : cores) CPU_SET(core, &set);
  sched_setaffinity(0, sizeof set, &set);
}

struct Pipe {
  Descriptor out, in;

  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) fail("no pipe for a rank: {}", std::strerror(errno));
    out = Descriptor(ends[0]);
    in = Descriptor(ends[1]);
  }
};

struct Rank {
  int number = 0;  // among all machines'
  pid_t pid = 0;
  Descriptor streams[2];   // what it prints on stdout and stderr
  std::string rest[2];     // the beginning of a line
  std::string last_words;  // its last line on stderr
  bool ended = false;
  int status = 0;

  bool failed() const { return ended && status != 0; }
  bool killed() const { return ended && WIFSIGNALED(status); }
  bool sent_off = false;  // by the starter, because another one had failed
};

std::string fate_of(const Rank& rank) {
  if (rank.killed()) {
    return fmt::format("rank {} was ended by signal {} ({})", rank.number, WTERMSIG(rank.status),
                       strsignal(WTERMSIG(rank.status)));
  }
  return fmt::format("rank {} ended with code {}{}{}", rank.number, WEXITSTATUS(rank.status),
                     rank.last_words.empty() ? "" : ": ", rank.last_words);
}

// All ranks of this machine, from their start to the end of the last one.
class Attempt {
 public:
  Attempt(const LaunchRequest& request, const LaunchEvents& events, const Signals& signals,
          const std::vector<std::string>& words)
      : request_(request), events_(events), signals_(signals) {
    const int port = request.port != 0 ? request.port : port_of(listen_on());
    for (int i = 0; i < request.ranks; ++i) start(i, port, words);
  }

  void run() {
    while (!over()) {
      listen();
      hurry();
    }
  }

  bool interrupted() const { return interrupted_; }

  // A killed one rather than one that left because of it, and the earlier of two.
  const Rank* first_failed() const {
    const Rank* found = nullptr;
    for (size_t i : order_) {
      if (!ranks_[i].failed() || ranks_[i].sent_off) continue;
      if (found == nullptr || (ranks_[i].killed() && !found->killed())) found = &ranks_[i];
    }
    return found;
  }

 private:
  void start(int local, int port, const std::vector<std::string>& words) {
    Pipe streams[2];
    Rank rank;
    rank.number = request_.node * request_.ranks + local;
    rank.pid = ::fork();
    if (rank.pid < 0) fail("cannot start rank {}: {}", rank.number, std::strerror(errno));
    if (rank.pid == 0) live_as_rank(local, rank.number, port, words, streams);
    for (int i : {0, 1}) rank.streams[i] = std::move(streams[i].out);
    ranks_.push_back(std::move(rank));
  }

  [[noreturn]] void live_as_rank(int local, int number, int port,
                                 const std::vector<std::string>& words, Pipe* streams) const {
    ::setpgid(0, 0);  // a terminal's Ctrl-C comes to the starter, which passes it on once
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    pin_to(share_of_cores(allowed_cores(), local, request_.ranks));
    const auto set = [](const char* name, const std::string& value) {
      ::setenv(name, value.c_str(), 1);
    };
    set("RANK", std::to_string(number));
    set("WORLD_SIZE", std::to_string(request_.nodes * request_.ranks));
    set("LOCAL_RANK", std::to_string(local));
    set("MASTER_ADDR", request_.master);
    set("MASTER_PORT", std::to_string(port));
    ::dup2(streams[0].in.get(), STDOUT_FILENO);
    ::dup2(streams[1].in.get(), STDERR_FILENO);
    std::vector<char*> arguments{const_cast<char*>(request_.program.c_str())};
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    sigprocmask(SIG_SETMASK, &signals_.before(), nullptr);
    ::execv(request_.program.c_str(), arguments.data());
    ::_exit(127);
  }

  bool over() const {
    return std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) {
      return rank.ended && !rank.streams[0].ok() && !rank.streams[1].ok();
    });
  }

  void listen() {
    std::vector<pollfd> waiting{{signals_.get(), POLLIN, 0}};
    for (const Rank& rank : ranks_) {
      for (const Descriptor& stream : rank.streams) waiting.push_back({stream.get(), POLLIN, 0});
    }
    if (::poll(waiting.data(), waiting.size(), 200) < 0) return;
    for (size_t i = 0; i < 2 * ranks_.size(); ++i) {
      if (waiting[i + 1].revents != 0) read(ranks_[i / 2], static_cast<int>(i % 2));
    }
    while (const int signal = signals_.next()) {
      if (signal != SIGCHLD) pass_on(signal);
    }
    reap();
  }

  void read(Rank& rank, int stream) {
    char bytes[8192];
    const ssize_t count = ::read(rank.streams[stream].get(), bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) return;
    std::string& rest = rank.rest[stream];
    if (count > 0) rest.append(bytes, static_cast<size_t>(count));
    for (size_t end; (end = rest.find('\n')) != std::string::npos; rest.erase(0, end + 1)) {
      say(rank, stream, rest.substr(0, end));
    }
    if (count > 0) return;
    if (!rest.empty()) say(rank, stream, rest);
    rest.clear();
    rank.streams[stream].close();
  }

  void say(Rank& rank, int stream, const std::string& line) const {
    if (stream == 1 && !line.empty()) rank.last_words = line;
    if (events_.line) events_.line(rank.number, stream == 1, line);
  }

  void reap() {
    for (size_t i = 0; i < ranks_.size(); ++i) {
      Rank& rank = ranks_[i];
      if (rank.ended || ::waitpid(rank.pid, &rank.status, WNOHANG) != rank.pid) continue;
      rank.ended = true;
      order_.push_back(i);
      if (rank.failed() && !failing_) {
        failing_ = true;
        since_ = Steady::now();
      }
    }
  }

  void pass_on(int signal) {
    interrupted_ = true;
    tell_living(signal);
  }

  void tell_living(int signal) const {
    for (const Rank& rank : ranks_) {
      if (!rank.ended) ::kill(rank.pid, signal);
    }
  }

  // The others know by themselves; those that do not are helped.
  void hurry() {
    if (!failing_ || Steady::now() - since_ < (termed_ ? kUntilKill : kUntilTerm)) return;
    for (Rank& rank : ranks_) rank.sent_off = rank.sent_off || !rank.ended;
    tell_living(termed_ ? SIGKILL : SIGTERM);
    termed_ = true;
  }

  const LaunchRequest& request_;
  const LaunchEvents& events_;
  const Signals& signals_;
  std::vector<Rank> ranks_;
  std::vector<size_t> order_;  // in which they ended
  bool interrupted_ = false;
  bool failing_ = false, termed_ = false;
  Steady::time_point since_;
};

}  // namespace

std::vector<int> share_of_cores(const std::vector<int>& cores, int rank, int ranks) {
  const auto count = static_cast<int>(cores.size());
  if (count == 0) return {};
  if (count < ranks) return {cores[rank % count]};
  return {cores.begin() + rank * count / ranks, cores.begin() + (rank + 1) * count / ranks};
}

LaunchOutcome launch(const LaunchRequest& request, const LaunchEvents& events) {
  const Signals signals;
  LaunchOutcome outcome;
  for (int attempt = 0;; ++attempt) {
    Attempt now(request, events, signals, request.arguments(attempt));
    now.run();
    const Rank* failed = now.first_failed();
    outcome.interrupted = now.interrupted();
    outcome.why = failed ? fate_of(*failed) : "";
    outcome.code = failed == nullptr ? 0 : failed->killed() ? 1 : WEXITSTATUS(failed->status);
    const bool usage = outcome.code == 2;  // it would be wrong again
    if (failed == nullptr || outcome.interrupted || usage || attempt == request.restarts ||
        request.arguments(attempt + 1).empty()) {
      return outcome;
    }
    if (events.notice) {
      events.notice(fmt::format("{}; all ranks start again ({} of {} restarts)", outcome.why,
                                attempt + 1, request.restarts));
    }
  }
}

}  // namespace soft
