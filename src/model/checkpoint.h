// Between a Classifier and a weights file, by the names both share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/classifier.h"
#include "weights/weights.h"

namespace soft {

// Trained parameters and BN's running statistics, the tensors that files hold.
std::map<std::string, torch::Tensor> tensors_by_name(Classifier& model);

// Copies every tensor of the file into the model; an Error names what is missing, unknown or
// misshapen.
void load_weights(Classifier& model, const Weights& weights);

// Parameters and BN statistics as float32 views into the model, in file order. The model must
// outlive them.
std::vector<NamedTensor> weights_of(Classifier& model);

}  // namespace soft
