// Between a Classifier and a weights file, by the names both share.
#pragma once

#include <vector>

#include "model/classifier.h"
#include "weights/weights.h"

namespace soft {

// Copies every tensor of the file into the model; an Error names what is missing, unknown or
// misshapen.
void load_weights(Classifier& model, const Weights& weights);

// Parameters and BN statistics as float32 views into the model, in file order. The model must
// outlive them.
std::vector<NamedTensor> weights_of(const Classifier& model);

}  // namespace soft
