// Where the native engine's time goes, as rows of results.
#pragma once

#include <vector>

#include "base/json.h"
#include "engine/engine.h"

namespace soft {

// {"model", "batch", "threads", "stage", "phase", "ms", "share", "gflops"} for each stage and phase
// and, with stage 0, for all of them; ms is wall-clock time per picture, share is per cent. Noise
// is run `repeat` times, or for two seconds.
std::vector<Json> profile_rows(const Packed& model, Grid size, int64_t batch, int repeat);

}  // namespace soft
