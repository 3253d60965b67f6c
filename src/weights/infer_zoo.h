// Published files of the zoo's families, recognised by their tensors.
#pragma once

#include <optional>

#include "weights/weights.h"

namespace soft {

// The row of the zoo whose tensors these are, whatever the number of classes; nothing when no row
// has just these. An Error names the models to choose from when only the names fit.
std::optional<ModelSpec> infer_zoo(const Weights& weights);

// This row of the zoo with the file's number of classes.
ModelSpec fit_zoo(const Weights& weights, ModelSpec row);

}  // namespace soft
