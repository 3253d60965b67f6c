// Weights that nobody trained: what a new model starts with, drawn without LibTorch.
#include "base/random.h"

#include <cmath>

#include "base/orthogonal.h"
#include "base/parallel.h"
#include "weights/weights.h"

namespace soft {
namespace {

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// Convolutions U(±1/sqrt(inputs)); linear layers, positions and class token N(0, 0.02).
void draw(const std::vector<int64_t>& shape, Random random, std::vector<float>& values) {
  constexpr double kStd = 0.02;
  if (shape.size() != 4) {
    for (float& value : values) value = static_cast<float>(kStd * random.normal());
    return;
  }
  const double bound = 1 / std::sqrt(static_cast<double>(shape[1] * shape[2] * shape[3]));
  for (float& value : values) value = static_cast<float>(random.uniform(-bound, bound));
}

std::vector<float> first_values(const TensorShape& tensor, int64_t elements, Random random) {
  if (ends_with(tensor.name, "." + std::string(kFeaturesName))) {
    return orthogonal_gaussians(tensor.shape[0], tensor.shape[1], random);
  }
  const bool vector = tensor.shape.size() == 1;
  const bool ones = vector && (ends_with(tensor.name, ".weight") ||
                               ends_with(tensor.name, ".running_var"));  // of a norm
  std::vector<float> values(elements, ones ? 1.0f : 0.0f);
  if (!vector) draw(tensor.shape, random, values);
  return values;
}

}  // namespace

Weights random_weights(const ModelSpec& spec, uint64_t seed) {
  const std::vector<TensorShape> shapes = tensors_of(spec);
  const auto count = static_cast<int64_t>(shapes.size());
  const auto memory = std::make_shared<std::vector<std::vector<float>>>(shapes.size());
  parallel_for(count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const TensorView view{DType::kF32, shapes[i].shape, nullptr};
      const Random random(seed, {static_cast<uint64_t>(i)});
      (*memory)[i] = first_values(shapes[i], view.elements(), random);
    }
  });
  Weights weights;
  weights.path = "random weights";
  for (size_t i = 0; i < shapes.size(); ++i) {
    const auto* bytes = reinterpret_cast<const uint8_t*>((*memory)[i].data());
    weights.tensors[shapes[i].name] = {DType::kF32, shapes[i].shape, bytes};
  }
  weights.storage = memory;
  return weights;
}

}  // namespace soft
