// Looks at the attention of a model while it runs: see wing/health.h for what is measured.
#pragma once

#include "model/classifier.h"
#include "wing/health.h"

namespace soft {

// Of every head, over these pictures [B, 3, H, W].
std::vector<HeadHealth> head_health(Classifier& model, const torch::Tensor& images);

// Their shares alone, for little more than running the model; and those of one mixing, [h].
std::vector<HeadShare> head_shares(Classifier& model, const torch::Tensor& images);
std::vector<double> head_shares(const Classifier::Mixing& mixing);

// Of every layer; cheap enough for the end of each epoch.
std::vector<LayerHealth> layer_health(Classifier& model, const torch::Tensor& images);

// Logits [B, classes] of the model without these parts.
torch::Tensor logits_without(Classifier& model, const torch::Tensor& images, const Silence& parts);

}  // namespace soft
