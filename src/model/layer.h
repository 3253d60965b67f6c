// One transformer layer: attention and MLP, each with a residual.
//   post (SOFT)  y = LN(x + Drop(Attn(x)));  z = LN(y + Drop(W2 gelu_tanh(W1 y)))
//   pre  (ViT)   y = x + Path(Attn(LN(x)));  z = y + Path(W2 gelu_erf(W1 LN(y)))
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include "attention/attention.h"

namespace soft {

// What is dropped from a residual branch in training. Released SOFT training drops single elements
// at the stochastic-depth rate in post-norm layers, and whole samples in ViT blocks.
struct Drop {
  double rate = 0;
  bool whole_samples = false;  // true stochastic depth in post-norm layers, too
};

class Layer : public torch::nn::Module {
 public:
  Layer(const AttentionSpec& attention, int mlp_ratio);

  torch::Tensor forward(const torch::Tensor& x, const Tokens& tokens);  // [B, n, C]

  // What the attention of this layer reads: x itself, or its norm.
  torch::Tensor attention_input(const torch::Tensor& x);
  Attention& attention() { return *attention_; }
  void set_drop(const Drop& drop) { drop_ = drop; }

 private:
  torch::Tensor mlp(const torch::Tensor& x);
  torch::Tensor dropped(const torch::Tensor& branch) const;

  LayerForm form_;
  Drop drop_;
  std::shared_ptr<Attention> attention_;
  torch::nn::LayerNorm norm1_{nullptr}, norm2_{nullptr};
  torch::nn::Linear up_{nullptr}, down_{nullptr};
};

}  // namespace soft
