#include "attention/attention.h"

#include <cmath>
#include <utility>

#include "attention/fast_path.h"
#include "attention/probe.h"
#include "attention/torch.h"
#include "attention/value_path.h"
#include "base/error.h"
#include "describe/description.h"

namespace soft {
namespace {

using torch::Tensor;

Tensor split_heads(const Tensor& x, int64_t heads) {
  return x.reshape({x.size(0), x.size(1), heads, -1}).transpose(1, 2);  // [B, n, C] -> [B, h, n, d]
}

Tensor merge_heads(const Tensor& y) { return y.transpose(1, 2).flatten(2); }  // -> [B, n, C]

Tensor over_heads(const Tensor& mask) { return mask.unsqueeze(1).unsqueeze(-1); }  // [B, 1, n, 1]

Heads map_heads(const Heads& heads, const std::function<Tensor(const Tensor&)>& change) {
  const Tensor q = change(heads.q);
  return {q, heads.k.is_same(heads.q) ? q : change(heads.k), change(heads.v)};
}

Heads without_masked(const Heads& heads, const Tensor& mask) {
  const Tensor padding = over_heads(mask.logical_not());
  return map_heads(heads, [&](const Tensor& t) { return t.masked_fill(padding, 0); });
}

Heads first_tokens(const Heads& heads, int64_t sample, int64_t count) {
  return map_heads(heads,
                   [&](const Tensor& t) { return t.narrow(0, sample, 1).narrow(2, 0, count); });
}

// One past the last real token of a sample; 0 when there is none.
int64_t real_length(const Tensor& mask) {
  const Tensor real = mask.nonzero();
  return real.numel() == 0 ? 0 : real.max().item<int64_t>() + 1;
}

// Sequences: each sample runs alone and without its trailing padding, so that its result cannot
// depend on how much padding there is, nor on the other samples.
template <class Mixing>
Tensor one_by_one(const Heads& heads, const Tokens& tokens, const Mixing& mixing) {
  std::vector<Tensor> outputs;
  for (int64_t sample = 0; sample < heads.q.size(0); ++sample) {
    const int64_t length = real_length(tokens.mask[sample]);
    if (length <= tokens.prefix) {  // nothing real: zeros that still carry a (zero) gradient
      outputs.push_back(heads.v.narrow(0, sample, 1) * 0);
      continue;
    }
    Tokens own = tokens;
    own.grid = {length - tokens.prefix, 1};
    const Tensor real = tokens.mask.narrow(0, sample, 1).narrow(1, 0, length);
    own.mask = real.all().item<bool>() ? Tensor() : real;
    const Tensor y = mixing(first_tokens(heads, sample, length), own);
    const Tensor clean = y.masked_fill(over_heads(real.logical_not()), 0);
    outputs.push_back(torch::constant_pad_nd(clean, {0, 0, 0, tokens.count() - length}));
  }
  return torch::cat(outputs);
}

void check_tokens(const Heads& heads, const Tokens& tokens) {
  const int64_t batch = heads.q.size(0), count = tokens.count();
  if (heads.q.size(2) != count) {
    fail("attention got {} tokens for a {}x{} grid with {} class token(s)", heads.q.size(2),
         tokens.grid.h, tokens.grid.w, tokens.prefix);
  }
  if (tokens.mask.defined() && tokens.mask.sizes() != at::IntArrayRef({batch, count})) {
    fail("the mask must be [{}, {}]: one entry per sample and token", batch, count);
  }
}

// [h, 1, k, k], or [h, 1, k, 1] of a sequence's.
Tensor on_two_axes(const Tensor& kernel) {
  return kernel.dim() == 3 ? kernel.unsqueeze(-1) : kernel;
}

}  // namespace

Attention::Attention(const AttentionSpec& spec) : spec_(spec) {
  validate(spec);
  for (const TensorShape& tensor : mix_tensors(spec, "")) {
    if (tensor.name != kValueKernelName) continue;
    const auto group = register_module("conv", std::make_shared<torch::nn::Module>("conv"));
    value_kernel_ = group->register_parameter(
        "weight", torch::nn::init::kaiming_uniform_(torch::empty(tensor.shape), std::sqrt(5.0)));
  }
}

Heads Attention::split(const Tensor& q, const Tensor& k, const Tensor& v) const {
  const Tensor queries = split_heads(q, spec_.heads);
  return {queries, k.is_same(q) ? queries : split_heads(k, spec_.heads),
          split_heads(v, spec_.heads)};
}

Tensor Attention::forward(const Heads& heads, const Tokens& tokens) {
  return merge_heads(attend(heads, tokens));
}

Tensor Attention::attend(const Heads& heads, const Tokens& tokens) {
  return masked(heads, tokens,
                [this](const Heads& h, const Tokens& t) { return mix_and_value(h, t); });
}

Tensor Attention::masked(const Heads& heads, const Tokens& tokens, const Mixing& mixing) const {
  check_tokens(heads, tokens);
  if (!tokens.mask.defined()) return mixing(heads, tokens);
  Tokens clean = tokens;
  clean.mask = tokens.mask.to(torch::kBool);
  const Heads real = without_masked(heads, clean.mask);
  if (spec_.sequence) return one_by_one(real, clean, mixing);
  return mixing(real, clean).masked_fill(over_heads(clean.mask.logical_not()), 0);
}

Tensor Attention::mix_and_value(const Heads& heads, const Tokens& tokens) {
  Probe* probe = Probe::present();
  const Silenced silenced = probe && probe->silenced ? probe->silenced(spec_) : Silenced{};
  const Tensor y = silenced.mixing ? torch::zeros_like(heads.v) : mix(heads, tokens);
  if (probe && probe->see) {
    const LandmarkKernels kernels = std::exchange(probe->kernels, {});
    const Probe blind;  // what is mixed to look closer
    probe->see({*this, heads, tokens, y, kernels});
  }
  if (!value_kernel_.defined() || silenced.value_path) return y;
  const bool plain_token = spec_.mechanism != Mechanism::kSoftDense || tokens.prefix == 0;
  if (plain_token && fast_path_applies(heads.v)) {
    return fused_value_path(y, heads.v, on_two_axes(value_kernel_), tokens);
  }
  return y + value_path(heads.v, tokens);
}

// One k x k kernel per head, shared by that head's channels. A class token has no place on the
// grid: its value path is 0, except in soft-dense, where V itself is added.
Tensor Attention::value_path(const Tensor& v, const Tokens& tokens) {
  const int64_t b = v.size(0), h = v.size(1), d = v.size(3);
  const auto [height, width] = tokens.grid;
  const Tensor on_grid = v.narrow(2, tokens.prefix, height * width).permute({0, 3, 1, 2});
  const Tensor kernel = on_two_axes(value_kernel_);
  const Tensor path = torch::conv2d(on_grid.reshape({b * d, h, height, width}), kernel, {}, 1,
                                    {kernel.size(2) / 2, kernel.size(3) / 2}, 1, h)
                          .reshape({b, d, h, height * width})
                          .permute({0, 2, 3, 1});  // [B, h, n, d]
  if (tokens.prefix == 0) return path;
  const Tensor front = v.narrow(2, 0, tokens.prefix);
  const bool keep = spec_.mechanism == Mechanism::kSoftDense;
  return torch::cat({keep ? front : torch::zeros_like(front), path}, 2);
}

Tensor Attention::row(const Heads& heads, const Tokens& tokens, int64_t query) {
  if (query < 0 || query >= tokens.count()) {
    fail("query {} is not one of the {} tokens", query, tokens.count());
  }
  const torch::AutoGradMode with_gradient(true);
  Heads probe = map_heads(heads, [](const Tensor& t) { return t.detach(); });
  probe.v = torch::zeros({heads.v.size(0), heads.v.size(1), tokens.count(), 1},
                         heads.v.options().requires_grad(true));
  const Tensor y = masked(probe, tokens, [this](const Heads& h, const Tokens& t) {
    return mix(h, t);
  });  // [B, h, n, 1]
  return torch::autograd::grad({y.select(2, query).sum()}, {probe.v})[0].squeeze(-1);
}

}  // namespace soft
