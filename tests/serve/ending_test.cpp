// The end of the process while a worker hangs, in a process of its own.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <future>

#include "serve/client.h"
#include "serve/crew.h"
#include "serve/serve.h"
#include "support/support.h"

namespace soft {
namespace {

using namespace test;

// What serve() does, with a worker that never comes back.
[[noreturn]] void serve_hanging(int tell, const Limits& limits) {
  Journal journal({});
  Metrics metrics;
  Server server({"127.0.0.1", 0}, limits, metrics, &journal);
  std::atomic<bool> hangs{false};
  Crew crew({1, 1}, metrics, [&]() -> Labour {
    return [&](std::vector<Ticket>&) {
      hangs = true;
      std::promise<void>().get_future().wait();
    };
  });
  const int port = server.port();
  if (write(tell, &port, sizeof(port)) != sizeof(port)) _exit(99);
  const bool answered = server.run([&](Request request, Reply reply) {
    if (request.path() == "/live") return reply({hangs ? 200 : 503});
    Ticket ticket{std::move(request), std::move(reply)};
    crew.take(ticket);
  });
  if (crew.close()) _exit(98);
  leave_at_once(journal, answered);
}

class Ending : public testing::Test {
 protected:
  void start(const Limits& limits) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    child_ = fork();
    if (child_ == 0) serve_hanging(ends[1], limits);
    ASSERT_EQ(read(ends[0], &port_, sizeof(port_)), static_cast<ssize_t>(sizeof(port_)));
    close(ends[0]);
    close(ends[1]);
  }
  // Sends a request that hangs, and waits until it does; the server goes on.
  void hang(Client& client) const {
    client.send(get("/hang"));
    Client other(port_);
    do {
      other.send(get("/live"));
    } while (status_of(other.receive()) == 503);
  }
  int exit_code() const {
    int status = 0;
    waitpid(child_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  pid_t child_ = -1;
  int port_ = 0;
};

TEST_F(Ending, ASecondSignalEndsItThoughAWorkerHangs) {
  start({});
  Client client(port_);
  hang(client);
  kill(child_, SIGTERM);
  Client late(port_);  // the first signal has been heard once this is refused or not taken
  late.send(get("/live"));
  late.receive();
  kill(child_, SIGTERM);
  EXPECT_EQ(exit_code(), 1);
}

TEST_F(Ending, TheDrainEndsInTimeThoughAWorkerHangs) {
  Limits limits;
  limits.drain_time = std::chrono::milliseconds(300);
  start(limits);
  Client client(port_);
  hang(client);
  kill(child_, SIGINT);
  EXPECT_EQ(exit_code(), 1);
}

TEST_F(Ending, ARequestThatWasRefusedForTakingTooLongIsNotWaitedFor) {
  Limits limits;
  limits.answer_time = std::chrono::milliseconds(100);
  start(limits);
  Client client(port_);
  hang(client);
  EXPECT_EQ(status_of(client.receive()), 503);
  client.close();
  kill(child_, SIGTERM);
  EXPECT_EQ(exit_code(), 0);
}

}  // namespace
}  // namespace soft
