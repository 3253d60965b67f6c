// Weights that nobody trained: what a new model starts with, drawn without LibTorch.
#include "base/random.h"

#include <cmath>

#include "base/orthogonal.h"
#include "base/parallel.h"
#include "describe/description.h"
#include "weights/weights.h"

namespace soft {
namespace {

// Convolutions U(±1/sqrt(inputs)), features orthogonal; linear layers, positions and class token
// N(0, 0.02).
std::vector<float> first_values(const TensorShape& tensor, Random random) {
  constexpr double kStd = 0.02;
  std::vector<float> values(tensor.elements(), tensor.start == Start::kOnes ? 1.0f : 0.0f);
  if (tensor.start == Start::kOrthogonal) {
    return orthogonal_gaussians(tensor.shape[0], tensor.shape[1], random);
  }
  if (tensor.start == Start::kNormal) {
    for (float& value : values) value = static_cast<float>(kStd * random.normal());
  }
  if (tensor.start == Start::kUniform && tensor.shape.size() > 1) {  // biases stay 0
    const auto inputs = static_cast<double>(tensor.elements() / tensor.shape[0]);
    const double bound = 1 / std::sqrt(inputs);
    for (float& value : values) value = static_cast<float>(random.uniform(-bound, bound));
  }
  return values;
}

}  // namespace

Weights random_weights(const ModelSpec& spec, uint64_t seed) {
  const std::vector<TensorShape> shapes = tensors_of(spec);
  const auto count = static_cast<int64_t>(shapes.size());
  const auto memory = std::make_shared<std::vector<std::vector<float>>>(shapes.size());
  parallel_for(count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      (*memory)[i] = first_values(shapes[i], Random(seed, {static_cast<uint64_t>(i)}));
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
