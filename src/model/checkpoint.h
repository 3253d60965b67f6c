// Between a model and a weights file, by the names both share.
#pragma once

#include <vector>

#include "model/described_model.h"
#include "weights/weights.h"

namespace soft {

// Copies every tensor of the file into the model; an Error names what is missing, unknown or
// misshapen.
void load_weights(DescribedModel& model, const Weights& weights);

// Parameters, statistics and what is drawn, as float32 views into the model, in file order. The
// model must outlive them.
std::vector<NamedTensor> weights_of(const DescribedModel& model);

}  // namespace soft
