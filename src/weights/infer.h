// Cards for files that carry none, from the shapes of their tensors.
#pragma once

#include "weights/weights.h"

namespace soft {

bool has_card(const Weights& weights);  // of its own

// This row of the table with the file's classes and image size; an Error when its shapes contradict
// the row.
Card fit_card(const Weights& weights, ModelSpec row);

}  // namespace soft
