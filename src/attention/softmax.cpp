// The Transformer's own attention, O(n²·d):  Y = softmax(QK' / sqrt d) V.

#include <cmath>

#include "attention/dense.h"
#include "attention/masking.h"
#include "attention/mechanisms.h"
#include "attention/torch.h"

namespace soft {
namespace {

using torch::Tensor;

class SoftmaxAttention : public Attention {
 public:
  using Attention::Attention;

  Tensor mix(const Heads& heads, const Tokens& tokens) override {
    check_dense_memory(heads.q);
    const double scale = 1 / std::sqrt(static_cast<double>(heads.q.size(-1)));
    const Tensor scores =
        torch::matmul(heads.q * scale, heads.k.transpose(-1, -2));  // [B, h, n, n]
    return torch::matmul(with_low_masked_scores(scores, tokens.mask).softmax(-1), heads.v);
  }
};

}  // namespace

std::shared_ptr<Attention> make_softmax(const AttentionSpec& spec) {
  return std::make_shared<SoftmaxAttention>(spec);
}

}  // namespace soft
