// Nyströmformer (Xiong et al., 2021): softmax attention through m landmarks of Q and of K, each
// divided by d^(1/4); O(n·m·d + m³) per head:
//   F = softmax(Q K~')   A = softmax(Q~ K~')   B = softmax(Q~ K')   Y = F · (A⁺ · (B V))
// Q~ and K~ are means of windows on the grid, or of segments of a sequence (64 unless told). The
// convolution of V that its authors add is the value path of the base class.

#include "attention/batch_product.h"
#include "attention/kernel.h"
#include "attention/masking.h"
#include "attention/mechanisms.h"
#include "attention/sampler.h"
#include "attention/torch.h"
#include "spec/landmark_count.h"

namespace soft {
namespace {

using torch::Tensor;

constexpr int kInverseSteps = 6;

// A⁺ of matrices whose rows are softmaxes:
//   Z0 = A' / (|A|₁ |A|∞)   Z <- Z (13 I - AZ (15 I - AZ (7 I - AZ))) / 4
// Scaled per matrix, so that no sample depends on its neighbours.
Tensor pseudo_inverse(const Tensor& core) {
  const Tensor a = core.flatten(0, 1);  // [B·h, m, m]
  const Tensor identity = torch::eye(a.size(-1), a.options());
  const Tensor norms = a.sum(-2).amax(-1) * a.sum(-1).amax(-1);  // entries are not negative
  Tensor z = a.transpose(-1, -2) / norms.unsqueeze(-1).unsqueeze(-1);
  for (int step = 0; step < kInverseSteps; ++step) {
    const Tensor az = torch::bmm(a, z);
    const Tensor inner = torch::baddbmm(identity, az, 7 * identity - az, 15, -1);
    z = torch::bmm(z, torch::baddbmm(identity, az, inner, 13.0 / 4, -1.0 / 4));
  }
  return z.view_as(core);
}

class Nystromformer : public Attention {
 public:
  using Attention::Attention;

  Tensor mix(const Heads& heads, const Tokens& tokens) override {
    const Tensor q = scaled(heads.q), k = scaled(heads.k);
    const AttentionSpec windows = windows_for(tokens.grid);
    const Landmarks landmarks = pooled_windows(k, tokens, windows);
    const Tensor key_landmarks = landmarks.tokens.transpose(-1, -2);  // [B, h, d, m]
    const Tensor query_landmarks = pooled_windows(q, tokens, windows).tokens;
    const auto weights = [](const Tensor& scores, const Tensor& mask) {
      return with_low_masked_scores(scores, mask).softmax(-1);
    };
    const Tensor spread = weights(batch_product(q, key_landmarks), landmarks.present);  // F
    const Tensor core = with_identity_rows(
        weights(batch_product(query_landmarks, key_landmarks), landmarks.present),
        landmarks.present);  // A [B, h, m, m]
    const Tensor gather =
        weights(batch_product(query_landmarks, k.transpose(-1, -2)), tokens.mask);  // B
    return batch_product(spread,
                         batch_product(pseudo_inverse(core), batch_product(gather, heads.v)));
  }

 private:
  // Segments of a sequence are as many as there shall be landmarks, whatever its length.
  AttentionSpec windows_for(Grid grid) const {
    AttentionSpec windows = spec();
    if (!windows.sequence) return windows;
    windows.landmarks = static_cast<int>(landmark_count(spec(), grid));
    windows.ratio = 1;
    return windows;
  }
};

}  // namespace

std::shared_ptr<Attention> make_nystromformer(const AttentionSpec& spec) {
  return std::make_shared<Nystromformer>(spec);
}

}  // namespace soft
