// The real program as a server, on a port of its own.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "serve/client.h"
#include "support/support.h"

namespace soft::test {

class Program {
 public:
  // `descriptors`: how many it may have; 0: as many as we.
  explicit Program(const std::vector<std::string>& flags = {}, rlim_t descriptors = 0) {
    std::vector<const char*> argv{SOFT_BINARY, "serve", "--port", "0"};
    for (const std::string& flag : flags) argv.push_back(flag.c_str());
    argv.push_back(nullptr);
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    child_ = fork();
    if (child_ == 0) {
      dup2(ends[1], 2);
      const rlimit few{descriptors, descriptors};
      if (descriptors > 0) setrlimit(RLIMIT_NOFILE, &few);
      execv(argv[0], const_cast<char* const*>(argv.data()));
      _exit(127);
    }
    ::close(ends[1]);
    log_ = ends[0];
    read_port();
  }
  ~Program() {
    if (child_ > 0) kill(child_, SIGKILL);
    if (child_ > 0) wait();
    ::close(log_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  int port() const { return port_; }
  const std::string& announcement() const { return announcement_; }  // and what came before it
  pid_t id() const { return child_; }
  void signal(int number) const { kill(child_, number); }

  // Nobody reads what the program says any more.
  void close_log() {
    ::close(log_);
    log_ = -1;
  }

  // What it said after its announcement; once it has ended.
  std::string rest_of_log() const {
    std::string text;
    char bytes[4096];
    for (ssize_t n; (n = read(log_, bytes, sizeof(bytes))) > 0;) text.append(bytes, n);
    return text;
  }

  // The exit code; 128 and more for a signal.
  int wait() {
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  // "soft: … on http://127.0.0.1:PORT/ …"
  void read_port() {
    std::string line;
    for (char c = 0; read(log_, &c, 1) == 1 && line.find("/ (") == std::string::npos;) line += c;
    const size_t at = line.find("127.0.0.1:");
    ASSERT_NE(at, std::string::npos) << line;
    announcement_ = line;
    port_ = std::stoi(line.substr(at + 10));
  }

  pid_t child_ = -1;
  int log_ = -1;
  int port_ = 0;
  std::string announcement_;
};

}  // namespace soft::test
