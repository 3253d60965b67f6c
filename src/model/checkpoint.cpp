#include "model/checkpoint.h"

#include "attention/torch.h"
#include "base/error.h"

namespace soft {

void load_weights(DescribedModel& model, const Weights& weights) {
  check_fit(weights, model.description().tensors, model.name());
  const torch::NoGradGuard no_grad;
  for (const ModelTensor& own : model.tensors()) {
    std::vector<float> values = to_floats(weights.tensors.at(own.name));
    torch::Tensor(own.tensor)
        .copy_(torch::from_blob(values.data(), own.tensor.sizes(), torch::kFloat32));
  }
}

std::vector<NamedTensor> weights_of(const DescribedModel& model) {
  std::vector<NamedTensor> named;
  for (const auto& [name, tensor, kind, decays, head, layers] : model.tensors()) {
    if (tensor.scalar_type() != torch::kFloat32 || !tensor.is_contiguous() || !tensor.is_cpu()) {
      fail("tensor '{}' is not a contiguous float32 CPU tensor", name);
    }
    const auto* bytes = static_cast<const uint8_t*>(tensor.data_ptr());
    named.push_back({name, {DType::kF32, tensor.sizes().vec(), bytes}});
  }
  return named;
}

}  // namespace soft
