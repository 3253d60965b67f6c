// The torch face of the kernels: SOFT's mixing as one autograd function that never builds K1. The
// plain tensor expression in soft.cpp stays beside it, for other devices and types and as the
// oracle of its tests.
#pragma once

#include <torch/types.h>

#include "attention/attention.h"
#include "attention/inverse.h"
#include "attention/sampler.h"
#include "kernels/landmarks.h"

namespace soft {

// Where fast_path_applies, with the one-shot inverse gradient: everything else takes the plain
// expression.
bool fused_applies(const Heads& heads, const InverseRule& rule);

struct SoftRule {
  InverseRule inverse;
  Normalise normalise = Normalise::kNone;
  torch::Tensor token_mask;  // [B, n], or undefined
};

// Y [B, h, n, d] of unscaled q and v [B, h, n, d] through landmarks of the scaled q. Saves q, v,
// landmarks, inv and K1'V for its gradient (and Y with Normalise::kRows): O(n·d), since K1 is
// recomputed by tiles.
torch::Tensor fused_soft(const Heads& heads, const Landmarks& landmarks, const SoftRule& rule);

// The same through the means of these windows of the scaled q, whose gradient goes straight into
// q's: no second array of n rows. Without masks.
torch::Tensor fused_soft(const Heads& heads, const Windows& windows, const SoftRule& rule);

}  // namespace soft
