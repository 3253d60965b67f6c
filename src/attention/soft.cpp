// SOFT: softmax-free attention with linear complexity (Algorithm 1 of the paper), O(n·m·d + m³) per
// head:
//   L = sample(Q)   K1 = exp(-|Q - L|²/2)   A = exp(-|L - L|²/2)   Y = K1 · (inv(A) · (K1' V))
// soft-norm (SOFT++) replaces inv(A) by D^-1/2 inv(A) D^-1/2, D the row sums of A.

#include "attention/inverse.h"
#include "attention/kernel.h"
#include "attention/landmark_mix.h"
#include "attention/mechanisms.h"
#include "attention/sampler.h"
#include "attention/torch.h"

namespace soft {
namespace {

using torch::Tensor;

// A landmark without a real token takes no part: its row and column of A are those of the identity.
Tensor with_identity_rows(const Tensor& core, const Tensor& present) {
  const Tensor both = present.unsqueeze(-1) & present.unsqueeze(-2);  // [B, m, m]
  return torch::where(both.unsqueeze(1), core, torch::eye(core.size(-1), core.options()));
}

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
  Tensor cross = gaussian(scaled(heads.q), landmarks.tokens);  // K1 [B, h, n, m]
  Tensor core = gaussian_self(landmarks.tokens);               // A [B, h, m, m]
  if (landmarks.present.defined()) {
    cross = cross.masked_fill(landmarks.present.logical_not().unsqueeze(1).unsqueeze(1), 0);
    core = with_identity_rows(core, landmarks.present);
  }
  Tensor inv = inverse(core, rule.inverse);
  if (rule.norm) inv = symmetrically_normalised(inv, core);
  const Tensor gathered = torch::matmul(cross.transpose(-1, -2), heads.v);  // [B, h, m, d]
  return torch::matmul(cross, torch::matmul(inv, gathered));                // [B, h, n, d]
}

std::shared_ptr<Attention> make_soft(const AttentionSpec& spec) {
  return std::make_shared<SoftAttention>(spec);
}

}  // namespace soft
