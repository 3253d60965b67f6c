// SOFT where every token is its own landmark (stage 4 of the paper's Table 2, sampling 1x1),
// O(n²·d):
//   L = GELU(LN(Linear(Q)))   Y = A V   A = exp(-|L_i - L_j|²/2)
// With m = n there is nothing to route through, hence no K1 and no inverse.

#include "attention/dense.h"
#include "attention/gelu.h"
#include "attention/kernel.h"
#include "attention/masking.h"
#include "attention/mechanisms.h"
#include "attention/torch.h"

namespace soft {
namespace {

using torch::Tensor;

class SoftDense : public Attention {
 public:
  explicit SoftDense(const AttentionSpec& spec) : Attention(spec) {
    const int64_t d = spec.head_dim();
    linear_ = mixer().register_module(
        "Qlandmark_op", torch::nn::Linear(torch::nn::LinearOptions(d, d).bias(false)));
    const auto sequence =
        mixer().register_module("Qnorm_act", std::make_shared<torch::nn::Module>("Qnorm_act"));
    norm_ = sequence->register_module(
        "0", torch::nn::LayerNorm(torch::nn::LayerNormOptions({d}).eps(1e-5)));
  }

  Tensor mix(const Heads& heads, const Tokens& tokens) override {
    check_dense_memory(heads.q);
    const Tensor landmarks = erf_gelu(norm_(linear_(scaled(heads.q))));  // [B, h, n, d]
    const Tensor kernel = gaussian_self(landmarks);                      // [B, h, n, n]
    return torch::matmul(without_masked_keys(kernel, tokens.mask), heads.v);
  }

 private:
  torch::nn::Linear linear_{nullptr};
  torch::nn::LayerNorm norm_{nullptr};
};

}  // namespace

std::shared_ptr<Attention> make_soft_dense(const AttentionSpec& spec) {
  return std::make_shared<SoftDense>(spec);
}

}  // namespace soft
