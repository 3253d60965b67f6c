// Algorithm 1 of the paper from Q, V and the landmarks on: through the kernels where they apply, as
// plain tensor expressions everywhere else.
#pragma once

#include "attention/fused.h"

namespace soft {

// Y [B, h, n, d] of unscaled q and v [B, h, n, d] through landmarks of the scaled q.
torch::Tensor landmark_mix(const Heads& heads, const Landmarks& landmarks, const SoftRule& rule);

}  // namespace soft
