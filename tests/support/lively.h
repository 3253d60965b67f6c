// Random weights for models of any spec and size.
#pragma once

#include <cmath>
#include <deque>
#include <string>
#include <vector>

#include "base/random.h"
#include "describe/description.h"
#include "weights/weights.h"

namespace soft::test {

// Weights that keep the signal alive through every layer, BN's statistics included: a wrong turn
// anywhere shows in the logits.
class LivelyWeights {
 public:
  explicit LivelyWeights(const ModelSpec& spec) {
    weights_.path = "lively weights";
    for (const TensorShape& tensor : tensors_of(spec)) {
      TensorView view{DType::kF32, tensor.shape, nullptr};
      memory_.emplace_back(view.elements());
      fill(tensor, memory_.back());
      view.data = reinterpret_cast<const uint8_t*>(memory_.back().data());
      weights_.tensors[tensor.name] = view;
    }
  }

  const Weights& get() const { return weights_; }

 private:
  // Uniform, with the deviation that a layer of so many inputs preserves; norms lie around one.
  void fill(const TensorShape& tensor, std::vector<float>& values) const {
    Random random(11, {memory_.size()});
    const auto& shape = tensor.shape;
    const auto outputs = static_cast<double>(shape.front());
    const bool layer = shape.size() == 2 || shape.size() == 4;
    const double deviation = layer ? std::sqrt(outputs / static_cast<double>(values.size())) : 0.1;
    const double bound = std::sqrt(3) * deviation;
    const bool norm = shape.size() == 1 && tensor.name.find("bias") == std::string::npos &&
                      tensor.name.find("mean") == std::string::npos;
    for (float& value : values) {
      value = static_cast<float>((norm ? 1 : 0) + random.uniform(-bound, bound));
    }
  }

  Weights weights_;
  std::deque<std::vector<float>> memory_;
};

}  // namespace soft::test
