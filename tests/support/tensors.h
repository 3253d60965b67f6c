// Golden tensors and comparisons for tests that use LibTorch.
#pragma once

#include <map>
#include <string>

#include "attention/torch.h"
#include "support/support.h"
#include "weights/weights.h"

namespace soft::test {

using Tensors = std::map<std::string, torch::Tensor>;

inline torch::Tensor tensor_of(const TensorView& view) {
  if (view.type == DType::kI64) {
    torch::Tensor tensor = torch::empty(view.shape, torch::kInt64);
    std::memcpy(tensor.data_ptr(), view.data, view.bytes());
    return tensor;
  }
  torch::Tensor tensor = torch::empty(view.shape);
  copy_floats(view, tensor.data_ptr<float>());
  return tensor;
}

inline Tensors golden_tensors(const std::string& file) {
  const Weights weights = read_weights(golden(file));
  Tensors tensors;
  for (const auto& [name, view] : weights.tensors) tensors[name] = tensor_of(view);
  return tensors;
}

// The largest difference, as a share of the largest expected value.
inline double relative_error(const torch::Tensor& got, const torch::Tensor& expected) {
  if (got.sizes() != expected.sizes()) return INFINITY;
  const double scale = expected.abs().max().item<double>();
  const double difference = (got - expected).abs().max().item<double>();
  return scale > 0 ? difference / scale : difference;
}

inline double absolute_error(const torch::Tensor& got, const torch::Tensor& expected) {
  return got.sizes() == expected.sizes() ? (got - expected).abs().max().item<double>() : INFINITY;
}

inline bool all_finite(const torch::Tensor& tensor) {
  return torch::isfinite(tensor).all().item<bool>();
}

// Copies tensors named `prefix` + parameter name into the module's parameters.
inline void load_parameters(torch::nn::Module& module, const Tensors& tensors,
                            const std::string& prefix) {
  const torch::NoGradGuard no_grad;
  for (auto& item : module.named_parameters()) {
    const auto found = tensors.find(prefix + item.key());
    if (found != tensors.end()) item.value().copy_(found->second);
  }
}

}  // namespace soft::test
