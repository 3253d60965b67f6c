// No attention, Y = 0: the frame alone, from which the worth of every mechanism is measured. Its
// tensors are those of the mechanisms that share Q and K, so that nothing else differs.

#include "attention/mechanisms.h"
#include "attention/torch.h"

namespace soft {
namespace {

using torch::Tensor;

class NoAttention : public Attention {
 public:
  using Attention::Attention;

  // Zeros that still carry (zero) gradients.
  Tensor mix(const Heads& heads, const Tokens&) override {
    return heads.v * 0 + heads.q.narrow(-1, 0, 1) * 0;  // [B, h, n, d]
  }
};

}  // namespace

std::shared_ptr<Attention> make_none(const AttentionSpec& spec) {
  return std::make_shared<NoAttention>(spec);
}

}  // namespace soft
