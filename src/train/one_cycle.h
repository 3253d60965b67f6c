// The one-cycle schedule of the Long Range Arena's protocol, linear in both phases. Step s counts
// from 0:
//   s < w:  lr from peak/25 up to the peak at s = w - 1, beta1 from 0.95 down to 0.85
//   then:   lr down to peak/250,000 at the last step, beta1 back up to 0.95
#pragma once

#include <cstdint>

namespace soft {

struct OneCycle {
  double peak = 1e-4;
  int64_t warmup = 1000, steps = 5000;
};

struct Pace {
  double lr = 0, beta1 = 0;
};

Pace pace_at(const OneCycle& cycle, int64_t step);

}  // namespace soft
