#include "model/checkpoint.h"

#include "attention/torch.h"
#include "base/error.h"

namespace soft {

using torch::Tensor;

// BN's step counter is not stored.
std::map<std::string, Tensor> tensors_by_name(Classifier& model) {
  std::map<std::string, Tensor> tensors;
  for (const auto& item : model.named_parameters()) tensors[item.key()] = item.value();
  for (const auto& item : model.named_buffers()) {
    if (item.value().is_floating_point()) tensors[item.key()] = item.value();
  }
  return tensors;
}

void load_weights(Classifier& model, const Weights& weights) {
  check_fit(weights, model.spec());
  const torch::NoGradGuard no_grad;
  for (auto& [name, tensor] : tensors_by_name(model)) {
    std::vector<float> values = to_floats(weights.tensors.at(name));
    tensor.copy_(torch::from_blob(values.data(), tensor.sizes(), torch::kFloat32));
  }
}

std::vector<NamedTensor> weights_of(Classifier& model) {
  const auto tensors = tensors_by_name(model);
  std::vector<NamedTensor> named;
  for (const TensorShape& expected : tensors_of(model.spec())) {
    const Tensor& tensor = tensors.at(expected.name);
    if (tensor.scalar_type() != torch::kFloat32 || !tensor.is_contiguous() || !tensor.is_cpu()) {
      fail("tensor '{}' is not a contiguous float32 CPU tensor", expected.name);
    }
    const auto* bytes = static_cast<const uint8_t*>(tensor.data_ptr());
    named.push_back({expected.name, {DType::kF32, tensor.sizes().vec(), bytes}});
  }
  return named;
}

}  // namespace soft
