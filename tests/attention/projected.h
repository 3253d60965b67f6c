// An attention with the linear layers around it, as a layer has them: what the tests differentiate
// and compare as one thing.
#pragma once

#include "attention/attention.h"
#include "attention/linear.h"
#include "attention/torch.h"

namespace soft::test {

class Projected : public torch::nn::Module {
 public:
  explicit Projected(const AttentionSpec& spec) {
    query_ = projection("W_q", spec.dim);
    if (!shares_query_and_key(spec.mechanism)) key_ = projection("W_k", spec.dim);
    value_ = projection("W_v", spec.dim);
    out_ = projection("ff", spec.dim);
    attention_ = register_module("attn", make_attention(spec));
  }

  Heads project(const torch::Tensor& x) const {
    const torch::Tensor q = of(query_, x);
    return attention_->split(q, key_ ? of(key_, x) : q, of(value_, x));
  }
  torch::Tensor forward(const torch::Tensor& x, const Tokens& tokens) {
    return of(out_, attention_->forward(project(x), tokens));
  }
  torch::Tensor attend(const Heads& heads, const Tokens& tokens) {
    return attention_->attend(heads, tokens);
  }
  torch::Tensor mix(const Heads& heads, const Tokens& tokens) {
    return attention_->mix(heads, tokens);
  }
  torch::Tensor row(const Heads& heads, const Tokens& tokens, int64_t query) {
    return attention_->row(heads, tokens, query);
  }
  void start_step(int64_t step) { attention_->start_step(step); }
  const AttentionSpec& spec() const { return attention_->spec(); }

 private:
  torch::nn::Linear projection(const char* name, int64_t dim) {
    return register_module(name, torch::nn::Linear(dim, dim));
  }
  static torch::Tensor of(const torch::nn::Linear& layer, const torch::Tensor& x) {
    return linear(x, layer->weight, layer->bias);
  }

  torch::nn::Linear query_{nullptr}, key_{nullptr}, value_{nullptr}, out_{nullptr};
  std::shared_ptr<Attention> attention_;
};

inline std::shared_ptr<Projected> projected(const AttentionSpec& spec) {
  return std::make_shared<Projected>(spec);
}

}  // namespace soft::test
