// The Transformer's own attention, O(n²·d):  Y = softmax(QK' / sqrt d) V. On the kernels its memory
// is O(n·d); the plain expression beside them builds the n x n matrix.

#include <cmath>

#include "attention/dense.h"
#include "attention/fused_softmax.h"
#include "attention/masking.h"
#include "attention/mechanisms.h"
#include "attention/torch.h"
#include "attention/weight_dropout.h"

namespace soft {
namespace {

using torch::Tensor;

WeightDropout dropped_weights(const Tokens& tokens) {
  const double rate = tokens.training ? weight_dropout() : 0;
  return rate > 0 ? WeightDropout{rate, drawn_seed()} : WeightDropout{};
}

class SoftmaxAttention : public Attention {
 public:
  using Attention::Attention;

  Tensor mix(const Heads& heads, const Tokens& tokens) override {
    if (fused_softmax_applies(heads)) {
      return fused_softmax(heads, tokens.mask, dropped_weights(tokens));
    }
    check_dense_memory(heads.q);
    const double scale = 1 / std::sqrt(static_cast<double>(heads.q.size(-1)));
    const Tensor scores =
        torch::matmul(heads.q * scale, heads.k.transpose(-1, -2));  // [B, h, n, n]
    const Tensor weights = with_low_masked_scores(scores, tokens.mask).softmax(-1);
    const double dropout = tokens.training ? weight_dropout() : 0;
    return torch::matmul(dropout > 0 ? torch::dropout(weights, dropout, true) : weights, heads.v);
  }
};

}  // namespace

std::shared_ptr<Attention> make_softmax(const AttentionSpec& spec) {
  return std::make_shared<SoftmaxAttention>(spec);
}

}  // namespace soft
