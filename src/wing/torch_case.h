// What `soft bench` measures of the torch wing.
#pragma once

#include "wing/wing.h"

namespace soft {

std::function<void()> repeated_step(const TorchStep& request);
std::function<void()> repeated_mix(const TorchMix& request);
std::vector<StageTrace> trace_inverse(const TorchTrace& request);

}  // namespace soft
