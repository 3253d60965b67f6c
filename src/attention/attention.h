// One interface for every attention mechanism. What differs between them is one equation: how V is
// mixed given Q and K. Everything around it (projections, heads, value path, masks, rows of the
// matrix) is here.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include <functional>
#include <memory>

#include "base/grid.h"
#include "spec/model_spec.h"

namespace soft {

struct Heads {
  torch::Tensor q, k, v;  // each [B, h, n, d]; k is q where the mechanism shares them
};

// What the tokens of a batch are: class tokens first, then the grid row by row.
struct Tokens {
  Grid grid;           // w = 1 for sequences
  int64_t prefix = 0;  // class tokens: query and key, but never sampled as landmarks
  torch::Tensor mask;  // [B, n], 1 for real tokens; undefined when all are real
  bool training = false;
  c10::optional<at::Generator> generator;  // for mechanisms that draw at random in training

  int64_t count() const { return prefix + grid.size(); }
};

class Attention : public torch::nn::Module {
 public:
  explicit Attention(const AttentionSpec& spec);

  torch::Tensor forward(const torch::Tensor& x, const Tokens& tokens);  // [B, n, C] -> [B, n, C]

  // Q, K and V of x, split into heads.
  Heads project(const torch::Tensor& x);

  // mix + value path, masks respected: masked queries give 0, masked keys and values count for
  // nothing, and neither their content nor further padding changes a bit of the others' result.
  torch::Tensor attend(const Heads& heads, const Tokens& tokens);  // [B, h, n, d]

  // Row `query` of every head's attention matrix, value path aside and masks respected. mix is
  // linear in V, so the row is one vector-Jacobian product: no n x n array unless the mechanism
  // itself has one.
  torch::Tensor row(const Heads& heads, const Tokens& tokens, int64_t query);  // [B, h, n]

  // The mechanism itself: the one thing a subclass must say. Masked q, k and v are 0 already.
  virtual torch::Tensor mix(const Heads& heads, const Tokens& tokens) = 0;  // [B, h, n, d]

  // Told before each step of training, counted from 0; mechanisms that draw at random may draw
  // anew.
  virtual void start_step(int64_t step) { static_cast<void>(step); }

  const AttentionSpec& spec() const { return spec_; }

 protected:
  // Where a mechanism registers its own parameters ("attn" in published names).
  torch::nn::Module& mixer() { return *mixer_; }

 private:
  void register_projections();
  void register_value_path();
  using Mixing = std::function<torch::Tensor(const Heads&, const Tokens&)>;

  torch::Tensor masked(const Heads& heads, const Tokens& tokens, const Mixing& mixing) const;
  torch::Tensor mix_and_value(const Heads& heads, const Tokens& tokens);
  torch::Tensor value_path(const torch::Tensor& v, const Tokens& tokens);

  AttentionSpec spec_;
  torch::nn::Linear query_{nullptr}, key_{nullptr}, value_{nullptr}, out_{nullptr};
  torch::nn::Linear key_value_{nullptr};  // ViT's names: K and V in one
  torch::nn::Conv2d value_conv_{nullptr};
  std::shared_ptr<torch::nn::Module> mixer_;
};

// The mechanism named in the spec, freshly initialised.
std::shared_ptr<Attention> make_attention(const AttentionSpec& spec);

}  // namespace soft
