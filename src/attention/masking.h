// Masked keys in mechanisms that build the whole n x n matrix.
#pragma once

#include <torch/types.h>

namespace soft {

// Kernel entries of masked keys become 0. entries: [B, h, n, n], mask: [B, n] or undefined.
inline torch::Tensor without_masked_keys(const torch::Tensor& entries, const torch::Tensor& mask) {
  if (!mask.defined()) return entries;
  return entries.masked_fill(mask.logical_not().unsqueeze(1).unsqueeze(1), 0);
}

// Scores of masked keys become so low that a softmax gives them exactly 0 beside any real key.
inline torch::Tensor with_low_masked_scores(const torch::Tensor& scores,
                                            const torch::Tensor& mask) {
  if (!mask.defined()) return scores;
  return scores.masked_fill(mask.logical_not().unsqueeze(1).unsqueeze(1), -1e6);
}

}  // namespace soft
