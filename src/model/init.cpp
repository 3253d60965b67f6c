#include "model/init.h"

#include <cmath>
#include <set>

#include "attention/torch.h"

namespace soft {
namespace {

using torch::Tensor;

constexpr double kStd = 0.02;

// N(0, 0.02) restricted to [-2, 2], by drawing the few outsiders again. LibTorch has no
// trunc_normal_.
void truncated_normal(Tensor tensor) {
  tensor.normal_(0, kStd);
  for (auto outside = tensor.abs() > 2; outside.any().item<bool>(); outside = tensor.abs() > 2) {
    tensor.copy_(torch::where(outside, torch::randn_like(tensor) * kStd, tensor));
  }
}

// Row p, column j: the sine (even j) or cosine (odd) of p / 10000^(2 floor(j/2) / columns).
Tensor waves(int64_t rows, int64_t columns) {
  const Tensor column = torch::arange(columns, torch::kFloat64);
  const Tensor rate = torch::pow(10000.0, -2 * (column / 2).floor() / columns);
  const Tensor angle = torch::arange(rows, torch::kFloat64).unsqueeze(1) * rate;
  const Tensor even = column.remainder(2) == 0;
  return torch::where(even, angle.sin(), angle.cos());
}

void start(const TensorShape& shape, Tensor tensor) {
  switch (shape.start) {
    case Start::kNormal:
      return truncated_normal(tensor);
    case Start::kZeros:
      tensor.zero_();
      return;
    case Start::kOnes:
      tensor.fill_(1);
      return;
    case Start::kTiny:
      tensor.fill_(1e-6);
      return;
    case Start::kFanOut: {
      const int64_t outputs = tensor.size(0) * tensor[0][0].numel();
      tensor.normal_(0, std::sqrt(2.0 / static_cast<double>(outputs)));
      return;
    }
    case Start::kWaves:
      tensor.copy_(waves(tensor.size(1), tensor.size(2)));
      return;
    case Start::kUniform:
    case Start::kGaussian:
    case Start::kOrthogonal:
      return;  // as drawn already
  }
}

bool is_dense(const Part& part) {
  return part.as<op::Linear>() != nullptr || part.as<op::Convolution>() != nullptr;
}

bool has_bias(const Part& part) {
  if (const auto* linear = part.as<op::Linear>()) return linear->bias;
  return part.as<op::Convolution>()->bias;
}

}  // namespace

std::vector<const Part*> drawing_order(const Description& model) {
  std::vector<const Part*> order;
  const Part* mix = nullptr;
  for (const Part& part : model.parts) {
    if (part.as<op::Mix>() != nullptr) {
      mix = &part;
      continue;
    }
    if (!part.tensors.empty()) order.push_back(&part);
    if (mix != nullptr && part.as<op::Linear>() != nullptr)
      order.push_back(std::exchange(mix, nullptr));
  }
  return order;
}

std::vector<Tensor> layer_values(const Description& model, const Part& part) {
  std::vector<Tensor> values;
  for (const int index : part.tensors) {
    const TensorShape& tensor = model.tensors[index];
    values.push_back(tensor.start == Start::kOnes       ? torch::ones(tensor.shape)
                     : tensor.start == Start::kGaussian ? torch::randn(tensor.shape) * kStd
                                                        : torch::zeros(tensor.shape));
  }
  if (!is_dense(part)) return values;
  torch::nn::init::kaiming_uniform_(values[0], std::sqrt(5.0));
  const auto inputs = static_cast<double>(values[0].numel() / values[0].size(0));
  if (has_bias(part))
    torch::nn::init::uniform_(values[1], -1 / std::sqrt(inputs), 1 / std::sqrt(inputs));
  return values;
}

void initialise(const Description& model, const std::vector<Tensor>& tensors) {
  const torch::NoGradGuard no_grad;
  std::set<int> done;
  for (const Part* part : drawing_order(model)) {
    if (part->as<op::Linear>() == nullptr && part->as<op::Mix>() == nullptr) continue;
    for (const int index : part->tensors) {
      if (done.insert(index).second) start(model.tensors[index], tensors[index]);
    }
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (done.count(static_cast<int>(i)) == 0) start(model.tensors[i], tensors[i]);
  }
}

}  // namespace soft
