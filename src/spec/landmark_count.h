// How many landmarks and buckets an attention has.
#pragma once

#include <cstdint>

#include "spec/model_spec.h"

namespace soft {

// Landmarks of one head on this grid (linformer: rows of its projected K), by the mechanism's own
// rule; 0 where it has none.
int64_t landmark_count(const AttentionSpec& spec, Grid grid);

// Reformer's buckets: so many that each has bucket_size tokens on average, and an even number.
int64_t bucket_count(const AttentionSpec& spec, int64_t tokens);

}  // namespace soft
