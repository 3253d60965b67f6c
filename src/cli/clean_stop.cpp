#include "cli/clean_stop.h"

#include <array>
#include <csignal>

#include "wing/wing.h"

namespace soft {
namespace {

volatile std::sig_atomic_t interrupted = 0;

// The first of these asks for a clean stop; a second one ends the program at once.
constexpr std::array kEndings{SIGINT, SIGTERM, SIGHUP};

void on_interrupt(int) {
  interrupted = 1;
  for (int signal : kEndings) std::signal(signal, SIG_DFL);
}

// Nobody reads what is printed (`soft train … | head`): a clean stop, too, and no end of the
// process.
void on_broken_pipe(int) { interrupted = 1; }

}  // namespace

void stop_cleanly_on_signals() {
  struct sigaction before {};
  sigaction(SIGHUP, nullptr, &before);
  const bool deaf = before.sa_handler == SIG_IGN;  // under nohup
  torch_wing();  // LibTorch 2 takes SIGHUP for itself while it is opened: ours come after it
  for (int signal : kEndings) std::signal(signal, on_interrupt);
  if (deaf) std::signal(SIGHUP, SIG_IGN);
  std::signal(SIGPIPE, on_broken_pipe);
}

bool asked_to_stop() { return interrupted != 0; }

}  // namespace soft
