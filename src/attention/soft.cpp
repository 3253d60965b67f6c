// SOFT: softmax-free attention with linear complexity (Algorithm 1 of the paper), O(n·m·d + m³) per
// head:
//   L = sample(Q)   K1 = exp(-|Q - L|²/2)   A = exp(-|L - L|²/2)   Y = K1 · (inv(A) · (K1' V))
// What becomes of S = K1 · inv(A) · K1' before it meets V (`normalise`):
//   core  D^-1/2 inv(A) D^-1/2 for inv(A), D the row sums of A (soft-norm, SOFT++)
//   rows  S / g, g the guarded sums of its rows
//   mean  S / n
// The guard, and why it is needed, stands in kernels/soft_attention.h.

#include <limits>

#include "attention/inverse.h"
#include "attention/kernel.h"
#include "attention/landmark_mix.h"
#include "attention/masking.h"
#include "attention/mechanisms.h"
#include "attention/probe.h"
#include "attention/sampler.h"
#include "attention/torch.h"
#include "kernels/soft_attention.h"

namespace soft {
namespace {

using torch::Tensor;

Tensor symmetrically_normalised(const Tensor& inv, const Tensor& core) {
  const Tensor scale = core.sum(-1, true).rsqrt();  // D^-1/2 [B, h, m, 1]
  return scale * inv * scale.transpose(-1, -2);
}

// K1 and N of one mixing. With kRows the left K1 is relative to the largest entry of each row and
// the right one to the largest of all, which the division by the rows' sums undoes.
struct Kernels {
  Tensor left, right;  // [B, h, n, m]
  Tensor core;         // [B, h, m, m]

  Tensor apply(const Tensor& v) const {  // S·v [B, h, n, d]
    return torch::matmul(left, torch::matmul(core, torch::matmul(right.transpose(-1, -2), v)));
  }
};

// 1 for real tokens [B, 1, n, 1].
Tensor counted(const Tensor& q, const Tensor& mask) {
  if (!mask.defined()) return torch::ones({1, 1, q.size(2), 1}, q.options());
  return mask.to(q.scalar_type()).unsqueeze(1).unsqueeze(-1);
}

// g [B, h, n, 1].
Tensor guarded_sums(const Kernels& kernels, const Tensor& real) {
  const Tensor spread =
      torch::matmul(kernels.core, torch::matmul(kernels.right.transpose(-1, -2), real));  // u
  const Tensor sum = torch::matmul(kernels.left, spread);                                 // r
  const Tensor reach = kCancelled * kernels.left.sum(-1, true);                           // δc
  const Tensor square = spread.square().sum(-2, true);                                    // |u|²
  return (sum.square() + reach.square() * square + kVanished * kVanished).sqrt();
}

Tensor normalised_mix(const Kernels& kernels, const Tensor& v, const Tensor& real,
                      Normalise normalise) {
  switch (normalise) {
    case Normalise::kNone:
    case Normalise::kCore:  // inside the core already
      break;
    case Normalise::kRows:
      return kernels.apply(v) / guarded_sums(kernels, real);
    case Normalise::kMean:
      return kernels.apply(v) / real.sum(2, true).clamp_min(1);
  }
  return kernels.apply(v);
}

// exp(exponent - peak): no gradient goes through the peak, which changes nothing in the end.
Tensor below(const Tensor& exponent, const Tensor& peak) {
  const Tensor fixed = peak.detach();
  return torch::exp(exponent - torch::where(fixed.isinf(), torch::zeros_like(fixed), fixed));
}

// The two sides of K1 for kRows.
Kernels peaked_kernels(const Tensor& q, const Landmarks& landmarks, const Tensor& token_mask,
                       const Tensor& core) {
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  Tensor exponent = gaussian_exponent(scaled(q), landmarks.tokens);  // [B, h, n, m]
  if (landmarks.present.defined()) {
    const Tensor absent = landmarks.present.logical_not().unsqueeze(1).unsqueeze(1);
    exponent = exponent.masked_fill(absent, kNever);
  }
  if (token_mask.defined()) {
    const Tensor padding = token_mask.logical_not().unsqueeze(1).unsqueeze(-1);
    exponent = exponent.masked_fill(padding, kNever);
  }
  return {below(exponent, exponent.amax(-1, true)), below(exponent, exponent.amax({-2, -1}, true)),
          core};
}

// K1 and A.
LandmarkKernels kernels_of(const Tensor& q, const Landmarks& landmarks) {
  return {without_masked_keys(gaussian(scaled(q), landmarks.tokens), landmarks.present),
          with_identity_rows(gaussian_self(landmarks.tokens), landmarks.present),
          {}};
}

class SoftAttention : public Attention {
 public:
  explicit SoftAttention(const AttentionSpec& spec)
      : Attention(spec),
        sampler_(spec, mixer()),
        inverse_{{spec.inverse, spec.newton_steps, spec.epsilon}, spec.inverse_grad} {}

  Tensor mix(const Heads& heads, const Tokens& tokens) override {
    Probe* probe = Probe::present();
    const bool seen = probe != nullptr && probe->see;
    const SoftRule rule{inverse_, normalisation_of(spec()), tokens.mask};
    const auto windows = sampler_.plain_windows(tokens);
    if (windows && !seen && fused_applies(heads, inverse_))
      return fused_soft(heads, *windows, rule);
    const Landmarks landmarks = sampler_.sample(heads.q, tokens);
    if (seen) {
      probe->kernels = kernels_of(heads.q, landmarks);
      probe->kernels.inverse = inverse(probe->kernels.core, inverse_);
    }
    return landmark_mix(heads, landmarks, rule);
  }

 private:
  LandmarkSampler sampler_;
  InverseRule inverse_;
};

}  // namespace

Tensor landmark_mix(const Heads& heads, const Landmarks& landmarks, const SoftRule& rule) {
  if (fused_applies(heads, rule.inverse)) return fused_soft(heads, landmarks, rule);
  const LandmarkKernels own = kernels_of(heads.q, landmarks);
  Tensor inv = inverse(own.core, rule.inverse);
  if (rule.normalise == Normalise::kCore) inv = symmetrically_normalised(inv, own.core);
  const Kernels kernels = rule.normalise == Normalise::kRows
                              ? peaked_kernels(heads.q, landmarks, rule.token_mask, inv)
                              : Kernels{own.cross, own.cross, inv};
  return normalised_mix(kernels, heads.v, counted(heads.q, rule.token_mask), rule.normalise);
}

std::shared_ptr<Attention> make_soft(const AttentionSpec& spec) {
  return std::make_shared<SoftAttention>(spec);
}

}  // namespace soft
