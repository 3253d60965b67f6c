#include "model/layer.h"

#include "attention/gelu.h"
#include "attention/linear.h"
#include "attention/torch.h"

namespace soft {
namespace {

using torch::Tensor;

std::shared_ptr<torch::nn::Module> group(torch::nn::Module& owner, const char* name) {
  return owner.register_module(name, std::make_shared<torch::nn::Module>(name));
}

// Keeps each sample's branch with probability 1 - rate, scaled so that its expectation stays.
Tensor drop_samples(const Tensor& branch, double rate) {
  const Tensor keep = torch::empty({branch.size(0), 1, 1}, branch.options()).bernoulli_(1 - rate);
  return branch * keep / (1 - rate);
}

}  // namespace

Layer::Layer(const AttentionSpec& attention, int mlp_ratio) : form_(attention.names) {
  const int64_t dim = attention.dim, hidden = mlp_ratio * dim;
  const bool post = form_ == LayerForm::kPost;
  const auto options = torch::nn::LayerNormOptions({dim}).eps(post ? 1e-5 : 1e-6);
  // Children register where the published names put them.
  const auto body = post ? group(*this, "att") : nullptr;
  torch::nn::Module& outer = post ? *body : *this;
  attention_ = outer.register_module(post ? "mha" : "attn", make_attention(attention));
  norm1_ = outer.register_module("norm1", torch::nn::LayerNorm(options));
  norm2_ = outer.register_module("norm2", torch::nn::LayerNorm(options));
  const auto perceptron = post ? body : group(*this, "mlp");
  up_ = perceptron->register_module(post ? "ff1" : "fc1", torch::nn::Linear(dim, hidden));
  down_ = perceptron->register_module(post ? "ff2" : "fc2", torch::nn::Linear(hidden, dim));
}

Tensor Layer::attention_input(const Tensor& x) { return form_ == LayerForm::kPost ? x : norm1_(x); }

Tensor Layer::forward(const Tensor& x, const Tokens& tokens) {
  if (form_ == LayerForm::kPost) {
    const Tensor y = norm1_(x + dropped(attention_->forward(x, tokens)));
    return norm2_(y + dropped(mlp(y)));
  }
  const Tensor y = x + dropped(attention_->forward(norm1_(x), tokens));
  return y + dropped(mlp(norm2_(y)));
}

Tensor Layer::mlp(const Tensor& x) {
  const Tensor hidden = linear(up_, x);
  return linear(down_, form_ == LayerForm::kPost ? tanh_gelu(hidden) : erf_gelu(hidden));
}

Tensor Layer::dropped(const Tensor& branch) const {
  if (!is_training() || drop_.rate <= 0) return branch;
  const bool whole = drop_.whole_samples || form_ == LayerForm::kPre;
  return whole ? drop_samples(branch, drop_.rate) : torch::dropout(branch, drop_.rate, true);
}

}  // namespace soft
