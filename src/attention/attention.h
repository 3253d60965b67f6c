// One interface for every attention mechanism: the operation "mix" of a description. What differs
// between them is one equation: how V is mixed given Q and K. Everything around it (heads, value
// path, masks, rows of the matrix) is here; the projections are linear layers like any other.
#pragma once

#include <torch/nn/module.h>

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

  // Q, K and V [B, n, C] as the projections give them, split into heads.
  Heads split(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v) const;

  torch::Tensor forward(const Heads& heads, const Tokens& tokens);  // attend, merged: [B, n, C]

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
  // Where a mechanism registers its own parameters, under the names of describe/operation.h.
  torch::nn::Module& mixer() { return *this; }

 private:
  using Mixing = std::function<torch::Tensor(const Heads&, const Tokens&)>;

  torch::Tensor masked(const Heads& heads, const Tokens& tokens, const Mixing& mixing) const;
  torch::Tensor mix_and_value(const Heads& heads, const Tokens& tokens);
  torch::Tensor value_path(const torch::Tensor& v, const Tokens& tokens);

  AttentionSpec spec_;
  torch::Tensor value_kernel_;  // [h, 1, k, k], [h, 1, k] for sequences; undefined without
};

// The mechanism named in the spec, freshly initialised.
std::shared_ptr<Attention> make_attention(const AttentionSpec& spec);

}  // namespace soft
