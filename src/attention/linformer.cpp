// Linformer (Wang et al., 2020): softmax attention over fewer keys, O(n·k·d) per head:
//   Y = softmax(Q (E K)' / sqrt d) (E V)
// In sequences E is a learned [k, n] matrix per head, of which shorter inputs take the first
// columns. On a grid it is a convolution whose stride is its side, SOFT's own sampling window, with
// one kernel for all heads; a class token stays a key of its own.

#include <cmath>

#include "attention/batch_product.h"
#include "attention/masking.h"
#include "attention/mechanisms.h"
#include "attention/sampler.h"
#include "attention/torch.h"
#include "base/error.h"

namespace soft {
namespace {

using torch::Tensor;

// Few keys and their values, as a mask of those that are there.
struct Shortened {
  Tensor k, v;     // [B, h, m, d]
  Tensor present;  // [B, m], or undefined when all are
};

// E x for every sample at once: [h, k, n] and [B, h, n, d] -> [B, h, k, d].
Tensor projected(const Tensor& e, const Tensor& x) {
  const int64_t b = x.size(0), h = x.size(1), n = x.size(2), d = x.size(3);
  const Tensor side_by_side = x.permute({1, 2, 0, 3}).reshape({h, n, b * d});
  return torch::bmm(e, side_by_side).reshape({h, -1, b, d}).permute({2, 0, 1, 3});
}

Tensor behind_prefix(const Tensor& x, const Tensor& windows, int64_t prefix) {
  return prefix == 0 ? windows : torch::cat({x.narrow(2, 0, prefix), windows}, 2);
}

class Linformer : public Attention {
 public:
  explicit Linformer(const AttentionSpec& spec) : Attention(spec) {
    const Tensor start = spec.sequence
                             ? torch::randn({spec.heads, spec.projection, spec.longest}) * 0.02
                             : window_kernel(spec);
    e_ = mixer().register_parameter("E", start);
  }

  Tensor mix(const Heads& heads, const Tokens& tokens) override {
    const Shortened few = spec().sequence ? along_sequence(heads) : on_grid(heads, tokens);
    const double scale = 1 / std::sqrt(static_cast<double>(heads.q.size(-1)));
    const Tensor scores = batch_product(heads.q, few.k.transpose(-1, -2), scale);  // [B, h, n, m]
    return batch_product(with_low_masked_scores(scores, few.present).softmax(-1), few.v);
  }

 private:
  Shortened along_sequence(const Heads& heads) const {
    const int64_t n = heads.k.size(2);
    if (n > e_.size(2)) {
      fail("a sequence of {} tokens is longer than linformer's projection, made for {}", n,
           e_.size(2));
    }
    const Tensor e = e_.narrow(2, 0, n);
    return {projected(e, heads.k), projected(e, heads.v), {}};
  }

  Shortened on_grid(const Heads& heads, const Tokens& tokens) const {
    const Landmarks k = pooled_windows(heads.k, tokens, spec(), e_);
    // The kernel mixes the channels of V, so that no single number says how much one token takes of
    // another. Probes of other widths (rows of the matrix) see each window as its mean.
    const bool probe = heads.v.size(-1) != e_.size(0);
    const Landmarks v = pooled_windows(heads.v, tokens, spec(), probe ? Tensor() : e_);
    Shortened few{behind_prefix(heads.k, k.tokens, tokens.prefix),
                  behind_prefix(heads.v, v.tokens, tokens.prefix), k.present};
    if (k.present.defined() && tokens.prefix > 0) {
      few.present = torch::cat({tokens.mask.narrow(1, 0, tokens.prefix), k.present}, 1);
    }
    return few;
  }

  Tensor e_;
};

}  // namespace

std::shared_ptr<Attention> make_linformer(const AttentionSpec& spec) {
  return std::make_shared<Linformer>(spec);
}

}  // namespace soft
