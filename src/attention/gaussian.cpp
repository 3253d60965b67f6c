// The exact Gaussian kernel of the paper's appendix, O(n²·d):  Y = S V,  S = exp(-|Q_i - Q_j|²/(2
// sqrt d)); gaussian-softmax puts a row softmax on top of S.

#include "attention/dense.h"
#include "attention/kernel.h"
#include "attention/masking.h"
#include "attention/mechanisms.h"
#include "attention/torch.h"

namespace soft {
namespace {

using torch::Tensor;

class GaussianAttention : public Attention {
 public:
  using Attention::Attention;

  Tensor mix(const Heads& heads, const Tokens& tokens) override {
    check_dense_memory(heads.q);
    const Tensor kernel = gaussian_self(scaled(heads.q));  // S [B, h, n, n]
    if (spec().mechanism == Mechanism::kGaussian) {
      return torch::matmul(without_masked_keys(kernel, tokens.mask), heads.v);
    }
    return torch::matmul(with_low_masked_scores(kernel, tokens.mask).softmax(-1), heads.v);
  }
};

}  // namespace

std::shared_ptr<Attention> make_gaussian(const AttentionSpec& spec) {
  return std::make_shared<GaussianAttention>(spec);
}

}  // namespace soft
