// Cross entropy with soft targets: the mean over the batch of sum_k -y_k log softmax(logits)_k.
#pragma once

#include <torch/types.h>

namespace soft {

torch::Tensor soft_cross_entropy(const torch::Tensor& logits, const torch::Tensor& targets);

}  // namespace soft
