// A model at one size and batch, and what timing it says.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "spec/model_spec.h"
#include "study/timing.h"

namespace soft {

struct ModelCase {
  ModelSpec spec;
  Grid size;
  int64_t batch = 1;
  std::string engine;

  std::string name() const;  // "native batch 8"
};

// Normalised pictures of nothing in particular: [batch, 3, size.h, size.w].
std::vector<float> noise_for(const ModelCase& model);

// {"model", "engine", "batch", "threads", "images_per_second", "ms_median", "ms_best", "ms_spread",
// "size", "gflops"}; rates follow from the median, and a multiply-accumulate is two operations.
Json row_of(const ModelCase& model, const Timing& timing);

}  // namespace soft
