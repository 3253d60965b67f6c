// What a new model starts with: Linear weights, positions and class token N(0, 0.02) truncated at
// ±2; Linear biases 0; norms 1 and 0; convolutions and the mechanisms' own tensors as LibTorch
// makes them, and so are the linear layers of sequences. Drawn from LibTorch's generator in one
// fixed order, so that a seed gives the same model in every version.
#pragma once

#include <functional>
#include <vector>

#include "describe/description.h"
#include "model/input.h"

namespace soft {

// The parts with tensors in the order in which they are drawn: a mix comes behind the linear layer
// that reads it.
std::vector<const Part*> drawing_order(const Description& model);

// First values of a part's tensors, as LibTorch's layers have them.
std::vector<torch::Tensor> layer_values(const Description& model, const Part& part);

// N(0, 0.02) and 0 where the description says so. `tensors` are those of the description.
void initialise(const Description& model, const std::vector<torch::Tensor>& tensors);

}  // namespace soft
