#include "model/init.h"

#include "attention/torch.h"

namespace soft {
namespace {

// N(0, std) restricted to [-2, 2], by drawing the few outsiders again. LibTorch has no
// trunc_normal_.
void truncated_normal(torch::Tensor tensor, double std) {
  const torch::NoGradGuard no_grad;
  tensor.normal_(0, std);
  for (auto outside = tensor.abs() > 2; outside.any().item<bool>(); outside = tensor.abs() > 2) {
    tensor.copy_(torch::where(outside, torch::randn_like(tensor) * std, tensor));
  }
}

}  // namespace

void initialise(torch::nn::Module& model) {
  constexpr double kStd = 0.02;
  for (const auto& module : model.modules(/*include_self=*/false)) {
    if (auto* linear = module->as<torch::nn::Linear>()) {
      truncated_normal(linear->weight, kStd);
      if (linear->bias.defined()) torch::nn::init::zeros_(linear->bias);
    }
  }
  for (const auto& item : model.named_parameters(/*recurse=*/false)) {
    truncated_normal(item.value(), kStd);  // positions and class token
  }
}

}  // namespace soft
