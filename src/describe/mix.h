// What one mechanism costs; its tensors are mix_tensors of describe/description.h.
#pragma once

#include "describe/description.h"

namespace soft {

// Of the mechanism and its value path; the floats are those of Q, K, V and the mechanism's matrices
// beside the layer's input.
PartCost mix_cost(const op::Mix& mix);

}  // namespace soft
