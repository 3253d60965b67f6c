// A model's weights with chosen layers as bytes.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/calibrate.h"
#include "weights/weights.h"

namespace soft {

class QuantizedModel {
 public:
  // Inputs whose layers cannot be bytes (they read so few channels that it would not pay: pixels)
  // are left out. Takes the time that the weights take; every choice afterwards is cheap.
  QuantizedModel(const Weights& weights, const std::vector<LayerInput>& inputs);

  const std::vector<LayerInput>& inputs() const { return inputs_; }

  // The layers of `chosen` inputs (indices) as bytes, all others as they were.
  Weights weights(RangeRule rule, const std::set<size_t>& chosen) const;

 private:
  struct Layer;
  Weights original_;
  std::vector<LayerInput> inputs_;
  std::vector<std::vector<std::shared_ptr<const Layer>>> layers_;  // of each input
};

// Tensors in a file's order: each layer's scales behind its weight. What is neither bytes nor
// exact arithmetic's affair (positions, the samplers' weights) may be stored as halves.
std::vector<NamedTensor> tensors_to_write(const Weights& weights, const ModelSpec& spec);

}  // namespace soft
