// Masked keys and absent landmarks.
#pragma once

#include <ATen/ops/eye.h>
#include <ATen/ops/where.h>
#include <torch/types.h>

namespace soft {

// Kernel entries of masked keys become 0. entries: [B, h, .., n], mask: [B, n] or undefined.
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

// A landmark without a real token takes no part: its row and column of the landmarks' own matrix
// are those of the identity. core: [B, h, m, m], present: [B, m] or undefined.
inline torch::Tensor with_identity_rows(const torch::Tensor& core, const torch::Tensor& present) {
  if (!present.defined()) return core;
  const torch::Tensor both = present.unsqueeze(-1) & present.unsqueeze(-2);  // [B, m, m]
  return torch::where(both.unsqueeze(1), core, torch::eye(core.size(-1), core.options()));
}

}  // namespace soft
