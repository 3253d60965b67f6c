// How much there is to compute in each part of the engine's profile.
#pragma once

#include "engine/engine.h"

namespace soft {

// Operations of the dense layers (two for a multiply-accumulate) for one image, by stage and phase;
// none for Phase::kMix.
using PhaseWork = std::array<std::array<double, kPhases>, kMostStages>;
PhaseWork dense_work(const Packed& model, Grid image);

}  // namespace soft
