// What `soft bench scale` measures of several ranks.
#pragma once

#include "wing/wing.h"

namespace soft {

ExchangeResult time_exchange(const TorchExchange& request);

}  // namespace soft
