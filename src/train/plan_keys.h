// Which keys `soft train --set` takes.
#pragma once

#include "train/plan.h"

namespace soft {

// A usage error names an unknown key and the nearest ones, of the model's settings and the
// recipe's.
void check_setting_keys(const TrainRequest& request);

}  // namespace soft
