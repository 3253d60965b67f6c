// Weights files for the tests: what a model starts with before it is trained.
#pragma once

#include <string>
#include <vector>

#include "describe/description.h"
#include "weights/weights.h"

namespace soft::test {

inline void write_weights(const std::string& path, const ModelSpec& spec,
                          const std::vector<std::string>& class_names = {}) {
  const Weights weights = random_weights(spec, 1);
  std::vector<NamedTensor> tensors;
  for (const TensorShape& tensor : tensors_of(spec)) {
    tensors.push_back({tensor.name, weights.tensors.at(tensor.name)});
  }
  Card card;
  card.spec = spec;
  card.class_names = class_names;
  write_safetensors(path, tensors, metadata_of(card));
}

}  // namespace soft::test
