// The file of a model of sequences that nobody trained, made without LibTorch.
#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "describe/sequence.h"
#include "weights/sequence_card.h"

namespace soft::test {

// Reads 40 tokens; two classes.
inline SequenceCard sequence_card_of(const std::string& task) {
  SequenceTask little = find_sequence_task(task);
  little.length = 64;
  little.classes = 2;
  SequenceSettings settings;
  settings.landmarks = "8";
  return {sequence_spec(little, settings), {"bad", "good"}, "nowhere", 40, task};
}

inline void write_sequence_file(const std::string& path, const std::string& task = "text") {
  const SequenceCard card = sequence_card_of(task);
  const std::vector<TensorShape> shapes = describe(card.spec, card.spec.length).tensors;
  std::vector<std::vector<float>> values;
  std::vector<NamedTensor> tensors;
  for (const TensorShape& shape : shapes) {
    Random random(7, {values.size()});
    values.emplace_back(shape.elements());
    for (float& value : values.back()) {
      const double spread = shape.shape.size() > 1 ? 0.3 : 0.1;
      value = static_cast<float>((shape.start == Start::kOnes ? 1 : 0) + spread * random.normal());
    }
    const auto* bytes = reinterpret_cast<const uint8_t*>(values.back().data());
    tensors.push_back({shape.name, {DType::kF32, shape.shape, bytes}});
  }
  write_safetensors(path, tensors, {{kSequenceKey, to_json(card).dump()}});
}

}  // namespace soft::test
