// Signals wait while this thread computes.
#pragma once

#include <csignal>

namespace soft {

// oneDNN's matrix products point the stack register at their workspace on the heap. A handler that
// runs on that thread meanwhile (Ctrl-C in Python, SIGTERM in a server) has its frame written in
// front of the workspace, over whatever lies there. So no handler runs on a thread while one of
// these lives on it; what has come is delivered afterwards. Faults of the thread itself are not
// held.
class HoldSignals {
 public:
  HoldSignals() {
    sigset_t held;
    sigfillset(&held);
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&held, fault);
    pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~HoldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HoldSignals(const HoldSignals&) = delete;
  HoldSignals& operator=(const HoldSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace soft
