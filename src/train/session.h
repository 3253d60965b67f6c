// `soft train` as one of several processes, or alone: meets the others, agrees with them on what is
// to be trained, and trains.
#pragma once

#include "wing/training.h"

namespace soft {

TrainOutcome run_training(const TrainRequest& request, const TrainEvents& events);

}  // namespace soft
