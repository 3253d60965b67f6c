// Weights files for the tests: every tensor the spec asks for, filled with small numbers.
#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "weights/weights.h"

namespace soft::test {

inline void write_weights(const std::string& path, const ModelSpec& spec) {
  Random random(1);
  const auto shapes = tensors_of(spec);
  std::vector<std::vector<float>> values;  // what the views below look at
  std::vector<NamedTensor> tensors;
  values.reserve(shapes.size());
  for (const TensorShape& tensor : shapes) {
    TensorView view{DType::kF32, tensor.shape, nullptr};
    values.emplace_back(view.elements());
    for (float& value : values.back()) value = static_cast<float>(0.02 * random.normal() + 0.05);
    view.data = reinterpret_cast<const uint8_t*>(values.back().data());
    tensors.push_back({tensor.name, view});
  }
  Card card;
  card.spec = spec;
  write_safetensors(path, tensors, metadata_of(card));
}

}  // namespace soft::test
