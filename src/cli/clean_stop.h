// Long work that ends cleanly when it is asked to.
#pragma once

namespace soft {

// From now on the first SIGINT, SIGTERM or SIGHUP, or a reader that went away, asks for a clean
// stop; a second signal ends the program at once. A thread of its own listens: no handler may run
// on one that computes (base/hold_signals.h). To be called before any other thread is started;
// opens the torch wing, which takes signals, too.
void stop_cleanly_on_signals();

bool asked_to_stop();

}  // namespace soft
