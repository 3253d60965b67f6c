#include "cli/clean_stop.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "wing/wing.h"

namespace soft {
namespace {

std::atomic<bool> interrupted{false};

bool hangup_is_ignored() {  // under nohup
  struct sigaction now {};
  sigaction(SIGHUP, nullptr, &now);
  return now.sa_handler == SIG_IGN;
}

// The first of them asks for a clean stop, the second ends the program as if nobody had listened.
void listen(sigset_t endings) {
  int signal = 0;
  sigwait(&endings, &signal);
  interrupted = true;
  sigwait(&endings, &signal);
  std::signal(signal, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &endings, nullptr);
  kill(getpid(), signal);
}

// Nobody reads what is printed (`soft train … | head`): a clean stop, too, and no end of the
// process. Comes to the thread that prints.
void on_broken_pipe(int) { interrupted = true; }

}  // namespace

void stop_cleanly_on_signals() {
  const bool deaf = hangup_is_ignored();
  sigset_t endings;
  sigemptyset(&endings);
  for (int signal : {SIGINT, SIGTERM}) sigaddset(&endings, signal);
  if (!deaf) sigaddset(&endings, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &endings, nullptr);  // here, and in every thread that comes after
  torch_wing();                                   // LibTorch 2 takes SIGHUP while it is opened
  if (deaf) std::signal(SIGHUP, SIG_IGN);
  std::signal(SIGPIPE, on_broken_pipe);
  std::thread(listen, endings).detach();
}

bool asked_to_stop() { return interrupted; }

}  // namespace soft
