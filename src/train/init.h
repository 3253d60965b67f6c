// Starting points other than random weights: fine-tuning and linear probing.
#pragma once

#include <string>
#include <vector>

#include "model/classifier.h"
#include "weights/weights.h"

namespace soft {

// Copies weights made for another class count or image size: a head that does not fit stays as it
// is, and position embeddings are resized. Everything else must fit. Says what it did.
std::vector<std::string> initialise_from(Classifier& model, const Weights& weights);

void freeze_all_but_head(Classifier& model);

}  // namespace soft
