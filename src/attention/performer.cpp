// Performer (Choromanski et al., 2021): softmax attention through r positive random features,
// O(n·r·d) per head (FAVOR+), with x^ = x / d^(1/4):
//   φ(x) = exp(ω x^ - |x^|²/2 - c) + ε    Y = φ(Q) (φ(K)' V) / (φ(Q) · Σ φ(K))
// c keeps the exponent from overflowing and cancels but for ε: each query's own maximum of ω x^,
// and one maximum over the real keys of a sample and head. ω is saved with the weights; training
// draws it anew every 1,000 steps.

#include <limits>

#include "attention/batch_product.h"
#include "attention/kernel.h"
#include "attention/mechanisms.h"
#include "attention/torch.h"
#include "base/orthogonal.h"

namespace soft {
namespace {

using torch::Tensor;

constexpr double kFeatureFloor = 1e-4;     // ε
constexpr double kNoFeature = -1e30;       // ω x^ of a masked key: never the maximum of real ones
constexpr double kSmallestWeight = 1e-30;  // keeps a sample without real keys at 0

class Performer : public Attention {
 public:
  explicit Performer(const AttentionSpec& spec) : Attention(spec) {
    omega_ = mixer().register_buffer(std::string(kFeaturesName), drawn());
  }

  void start_step(int64_t step) override {
    const int64_t every = spec().redraw_steps;
    if (every > 0 && step > 0 && step % every == 0) omega_.copy_(drawn());
  }

  Tensor mix(const Heads& heads, const Tokens& tokens) override {
    const Tensor q = features(heads.q, {-1}, {});
    const Tensor k = features(heads.k, {-2, -1}, tokens.mask);
    const Tensor gathered = batch_product(k.transpose(-1, -2), heads.v);  // [B, h, r, d]
    const Tensor weight = torch::matmul(q, k.sum(-2).unsqueeze(-1));      // [B, h, n, 1]
    return batch_product(q, gathered) / weight.clamp_min(kSmallestWeight);
  }

 private:
  // From LibTorch's generator, whose state training saves and restores.
  Tensor drawn() const {
    const int64_t rows = feature_count(spec()), dim = spec().head_dim();
    const auto seed = torch::randint(std::numeric_limits<int64_t>::max(), {1}, torch::kInt64);
    const Random random(static_cast<uint64_t>(seed.item<int64_t>()));
    const std::vector<float> values = orthogonal_gaussians(rows, dim, random);
    return torch::tensor(values).reshape({rows, dim});
  }

  // φ without its factor 1/sqrt(r), which cancels. The maximum is taken over `axes`.
  Tensor features(const Tensor& x, at::IntArrayRef axes, const Tensor& mask) const {
    const Tensor unit = scaled(x);
    Tensor exponent = torch::matmul(unit, omega_.t());  // [B, h, n, r]
    Tensor padding;
    if (mask.defined()) {
      padding = mask.logical_not().unsqueeze(1).unsqueeze(-1);
      exponent = exponent.masked_fill(padding, kNoFeature);
    }
    const Tensor largest = exponent.detach().amax(axes, true);
    const Tensor shift = unit.square().sum(-1, true) / 2 + largest;  // [B, h, n, 1]
    const Tensor phi = (exponent - shift).exp() + kFeatureFloor;
    return mask.defined() ? phi.masked_fill(padding, 0) : phi;
  }

  Tensor omega_;  // [r, d]
};

}  // namespace

std::shared_ptr<Attention> make_performer(const AttentionSpec& spec) {
  return std::make_shared<Performer>(spec);
}

}  // namespace soft
