// Initialisation: Linear weights, positions and class token N(0, 0.02) truncated at ±2; Linear
// biases 0; norms 1 and 0; convolutions and BN as LibTorch makes them.
#pragma once

#include <torch/nn/module.h>

namespace soft {

void initialise(torch::nn::Module& model);

}  // namespace soft
