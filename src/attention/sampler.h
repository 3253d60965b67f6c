// Landmarks: the m tokens through which SOFT routes attention (Table 4b of the paper).
//   conv    r x r convolution with stride r, one kernel for all heads, then LayerNorm and GELU
//   avg     r x r average pooling            random  m tokens drawn without replacement
//   biased  the first m tokens
// m follows the grid: floor(H/r)·floor(W/r), and ceil(n/r) in sequences, whose last window may be
// short. Or it is fixed: then the map is first average-pooled to (g·r) x (g·r) with g² = m (to m·r
// in sequences), so that cost is linear at any resolution.
#pragma once

#include <torch/nn/module.h>

#include <optional>

#include "attention/attention.h"
#include "kernels/landmarks.h"

namespace soft {

struct Landmarks {
  torch::Tensor tokens;   // [B, h, m, d]
  torch::Tensor present;  // [B, m], false where a window holds no real token; undefined when all do
};

// What each sampling window of x [B, h, n, d] holds: its mean over real tokens, or, with a kernel
// [d, d, r, r] (sequences: [d, d, r]), its convolution. Class tokens take no part.
Landmarks pooled_windows(const torch::Tensor& x, const Tokens& tokens, const AttentionSpec& spec,
                         const torch::Tensor& kernel = {});

// One kernel for all heads over windows of the spec's ratio, freshly initialised.
torch::Tensor window_kernel(const AttentionSpec& spec);

class LandmarkSampler {
 public:
  // Registers the conv sampler's parameters in `owner` under their published names.
  LandmarkSampler(const AttentionSpec& spec, torch::nn::Module& owner);

  // Landmarks of scaled queries; q itself is not scaled yet, [B, h, n, d].
  Landmarks sample(const torch::Tensor& q, const Tokens& tokens) const;

  // Where landmarks are nothing but means of whole windows of all tokens.
  std::optional<Windows> plain_windows(const Tokens& tokens) const;

 private:
  Landmarks pick(const torch::Tensor& q, const Tokens& tokens) const;
  Landmarks convolve(const torch::Tensor& q, const Tokens& tokens) const;  // q scaled

  AttentionSpec spec_;
  std::shared_ptr<torch::nn::Module> convolution_, norm_;  // conv sampler only
};

}  // namespace soft
