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
  torch_wing();  // LibTorch 2 takes SIGHUP for itself while it is opened: ours come after it
  for (int signal : kEndings) {
    const bool deaf = std::signal(signal, on_interrupt) == SIG_IGN;
    if (deaf && signal == SIGHUP) std::signal(signal, SIG_IGN);  // under nohup
  }
  std::signal(SIGPIPE, on_broken_pipe);
}

bool asked_to_stop() { return interrupted != 0; }

}  // namespace soft
