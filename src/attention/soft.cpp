// SOFT: softmax-free attention with linear complexity (Algorithm 1 of the paper), O(n·m·d + m³) per
// head:
//   L = sample(Q)   K1 = exp(-|Q - L|²/2)   A = exp(-|L - L|²/2)   Y = K1 · (inv(A) · (K1' V))
// soft-norm (SOFT++) replaces inv(A) by D^-1/2 inv(A) D^-1/2, D the row sums of A.

#include "attention/inverse.h"
#include "attention/kernel.h"
#include "attention/landmark_mix.h"
#include "attention/masking.h"
#include "attention/mechanisms.h"
#include "attention/sampler.h"
#include "attention/torch.h"

namespace soft {
namespace {

using torch::Tensor;

Tensor symmetrically_normalised(const Tensor& inv, const Tensor& core) {
  const Tensor scale = core.sum(-1, true).rsqrt();  // D^-1/2 [B, h, m, 1]
  return scale * inv * scale.transpose(-1, -2);
}

class SoftAttention : public Attention {
 public:
  explicit SoftAttention(const AttentionSpec& spec)
      : Attention(spec),
        sampler_(spec, mixer()),
        inverse_{spec.inverse, spec.inverse_grad, spec.newton_steps, spec.epsilon} {}

  Tensor mix(const Heads& heads, const Tokens& tokens) override {
    const Landmarks landmarks = sampler_.sample(scaled(heads.q), tokens);
    return landmark_mix(heads, landmarks,
                        {inverse_, spec().mechanism == Mechanism::kSoftNorm, tokens.mask});
  }

 private:
  LandmarkSampler sampler_;
  InverseRule inverse_;
};

}  // namespace

Tensor landmark_mix(const Heads& heads, const Landmarks& landmarks, const SoftRule& rule) {
  if (fused_applies(heads, rule.inverse)) return fused_soft(heads, landmarks, rule);
  const Tensor cross = without_masked_keys(gaussian(scaled(heads.q), landmarks.tokens),
                                           landmarks.present);  // K1 [B, h, n, m]
  const Tensor core =
      with_identity_rows(gaussian_self(landmarks.tokens), landmarks.present);  // A [B, h, m, m]
  Tensor inv = inverse(core, rule.inverse);
  if (rule.norm) inv = symmetrically_normalised(inv, core);
  const Tensor gathered = torch::matmul(cross.transpose(-1, -2), heads.v);  // [B, h, m, d]
  return torch::matmul(cross, torch::matmul(inv, gathered));                // [B, h, n, d]
}

std::shared_ptr<Attention> make_soft(const AttentionSpec& spec) {
  return std::make_shared<SoftAttention>(spec);
}

}  // namespace soft
