// Layers that are computed a second time on the way back instead of keeping what they computed: a
// training step holds the inputs of its layers and the insides of one of them. The same numbers,
// bit for bit.
#pragma once

#include <functional>
#include <vector>

#include "attention/torch.h"
#include "describe/description.h"

namespace soft {

// Parts [begin, end) that are one layer; all numbers count the description's parts.
struct Stretch {
  int begin = 0;
  int end = 0;
  std::vector<int> inputs;   // values from in front of it
  std::vector<int> outputs;  // values that are read behind it
};

// In order. A layer with a batch norm, which would gather its statistics twice, is not among them.
std::vector<Stretch> layers_to_recompute(const Description& model);

// body(inputs), whose gradients come from calling it again. `trained` are the tensors it reads
// besides; what it drops (model/drop.h) is the same both times.
using Body = std::function<std::vector<torch::Tensor>(const std::vector<torch::Tensor>& inputs)>;
std::vector<torch::Tensor> recomputed(const Body& body, const std::vector<torch::Tensor>& inputs,
                                      const std::vector<torch::Tensor>& trained);

}  // namespace soft
