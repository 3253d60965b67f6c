// Threads that wait for each other give their core to other programs soon.
#pragma once

namespace soft {

// OpenMP's threads spin for about a millisecond before they sleep. On a machine that does something
// else, too, they spin away the time of the very thread that they wait for: training then falls to
// a tenth of its speed. A hundredth of the rounds costs nothing when the machine is idle
// (docs/numbers.md, "Beside other programs"). The runtime reads its settings when it is loaded,
// before main: a command that computes for long (`soft train` …) starts itself once more, in the
// same process, with a setting of its own. OMP_WAIT_POLICY or GOMP_SPINCOUNT in the environment are
// left as they are.
void wait_briefly(int argc, char** argv);

}  // namespace soft
