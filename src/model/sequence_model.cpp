#include "model/sequence_model.h"

#include <algorithm>

#include "attention/gelu.h"
#include "attention/linear.h"
#include "attention/torch.h"
#include "attention/weight_dropout.h"
#include "base/error.h"

namespace soft {
namespace {

using torch::Tensor;

Tensor drop(const Tensor& x, double rate, bool training) {
  return training && rate > 0 ? torch::dropout(x, rate, true) : x;
}

Tensor through(const torch::nn::Linear& layer, const Tensor& x) {
  return linear(x, layer->weight, layer->bias);
}

torch::nn::LayerNorm layer_norm(int64_t dim) {
  return torch::nn::LayerNorm(torch::nn::LayerNormOptions({dim}).eps(1e-5));
}

Heads part_of(const Heads& heads, int64_t first, int64_t count) {
  const auto own = [&](const Tensor& t) { return t.narrow(2, first, count); };
  const Tensor q = own(heads.q);
  return {q, heads.k.is_same(heads.q) ? q : own(heads.k), own(heads.v)};
}

}  // namespace

PackedSequences pack(const int32_t* tokens, int64_t count, int64_t width, int sides) {
  PackedSequences batch;
  batch.sides = sides;
  std::vector<int64_t> packed;
  for (const int32_t* row = tokens; row != tokens + count * width; row += width) {
    int64_t length = width;
    while (length > 0 && row[length - 1] == 0) --length;
    batch.lengths.push_back(length);
    packed.insert(packed.end(), row, row + length);
  }
  batch.tokens = torch::tensor(packed, torch::kInt64);  // [T]
  return batch;
}

// y = x + Drop(Attn(LN(x)));  z = y + Drop(W2 Drop(gelu_erf(W1 LN(y))))
class SequenceModel::Block : public torch::nn::Module {
 public:
  explicit Block(const SequenceSpec& spec) : dropout_(spec.dropout) {
    const AttentionSpec attention = soft::attention_of(spec);
    const int64_t dim = attention.dim;
    const auto projection = [&](const char* name) {
      return register_module(name, torch::nn::Linear(dim, dim));
    };
    query_ = projection("W_q");
    if (!shares_query_and_key(attention.mechanism)) key_ = projection("W_k");
    value_ = projection("W_v");
    out_ = projection("ff");
    attention_ = register_module("attn", make_attention(attention));
    norm1_ = register_module("norm1", layer_norm(dim));
    norm2_ = register_module("norm2", layer_norm(dim));
    up_ = register_module("ff1", torch::nn::Linear(dim, spec.hidden));
    down_ = register_module("ff2", torch::nn::Linear(spec.hidden, dim));
  }

  Tensor forward(const Tensor& x, const std::vector<Tokens>& sequences) {  // [T, C]
    const auto dropped = [this](const Tensor& t) { return drop(t, dropout_, is_training()); };
    const Tensor y = x + dropped(attend(norm1_(x), sequences));
    const Tensor hidden = dropped(erf_gelu(through(up_, norm2_(y))));
    return y + dropped(through(down_, hidden));
  }

  Attention& attention() { return *attention_; }

 private:
  // Every sequence attends within itself; projections run over all tokens at once.
  Tensor attend(const Tensor& x, const std::vector<Tokens>& sequences) {
    const WeightDropoutScope weights(dropout_);
    const Tensor q = through(query_, x.unsqueeze(0));  // [1, T, C]
    const Tensor k = key_ ? through(key_, x.unsqueeze(0)) : q;
    const Heads all = attention_->split(q, k, through(value_, x.unsqueeze(0)));  // [1, h, T, d]
    std::vector<Tensor> mixed;
    int64_t first = 0;
    for (const Tokens& tokens : sequences) {
      const int64_t count = tokens.count();
      if (count > 0) mixed.push_back(attention_->forward(part_of(all, first, count), tokens));
      first += count;
    }
    return through(out_, torch::cat(mixed, 1).squeeze(0));  // [T, C]
  }

  double dropout_;
  std::shared_ptr<Attention> attention_;
  torch::nn::Linear query_{nullptr}, key_{nullptr}, value_{nullptr}, out_{nullptr};
  torch::nn::LayerNorm norm1_{nullptr}, norm2_{nullptr};
  torch::nn::Linear up_{nullptr}, down_{nullptr};
};

SequenceModel::SequenceModel(const SequenceSpec& spec) : spec_(spec) {
  constexpr double kStd = 0.02;
  const StageSpec& stage = spec.frame.stages.at(0);
  const int64_t dim = stage.dim;
  words_ = register_parameter("words", torch::randn({spec.vocabulary, dim}) * kStd);
  places_ = register_parameter("places", torch::randn({spec.length, dim}) * kStd);
  if (spec.class_token) {
    class_token_ = register_parameter("class_token", torch::randn({dim}) * kStd);
  }
  for (int layer = 0; layer < stage.depth; ++layer) {
    blocks_.push_back(
        register_module("block" + std::to_string(layer), std::make_shared<Block>(spec)));
  }
  norm_ = register_module("norm", layer_norm(dim));
  const int64_t pooled = spec.sides == 2 ? 4 * dim : dim;
  up_ = register_module("head1", torch::nn::Linear(pooled, spec.hidden));
  down_ = register_module("head2", torch::nn::Linear(spec.hidden, spec.frame.classes));
}

void SequenceModel::start_step(int64_t step) {
  for (const auto& block : blocks_) block->attention().start_step(step);
}

Tensor SequenceModel::dropped(const Tensor& x) const {
  return drop(x, spec_.dropout, is_training());
}

// What the attention is told of every sequence that has a token.
std::vector<Tokens> SequenceModel::describe(const PackedSequences& batch) const {
  std::vector<Tokens> sequences;
  int64_t first = 0;
  for (int64_t length : batch.lengths) {
    Tokens tokens;
    tokens.grid = {length, 1};
    tokens.prefix = spec_.class_token ? 1 : 0;
    tokens.training = is_training();
    const Tensor real = batch.tokens.narrow(0, first, length).ne(0);
    if (length > 0 && !real.all().item<bool>()) {
      const Tensor front = torch::ones({tokens.prefix}, torch::kBool);
      tokens.mask = torch::cat({front, real}).unsqueeze(0);  // [1, n]
    }
    sequences.push_back(tokens);
    first += length;
  }
  return sequences;
}

Tensor SequenceModel::embed(const PackedSequences& batch) {
  std::vector<Tensor> parts;
  const Tensor words = words_.index_select(0, batch.tokens);  // [T, C]
  int64_t first = 0;
  for (int64_t length : batch.lengths) {
    if (length > spec_.length) {
      fail("a sequence of {} tokens; {} reads at most {}", length, spec_.name, spec_.length);
    }
    if (spec_.class_token) parts.push_back(class_token_.unsqueeze(0));
    if (length > 0) parts.push_back(words.narrow(0, first, length) + places_.narrow(0, 0, length));
    first += length;
  }
  return dropped(torch::cat(parts));  // [T, C], class tokens in front of their sequences
}

// The mean divides by the task's n, as the protocol does, whatever a sequence's own length.
Tensor SequenceModel::pool(const Tensor& x, const std::vector<Tokens>& sequences) const {
  std::vector<Tensor> pooled;
  int64_t first = 0;
  for (const Tokens& tokens : sequences) {
    const int64_t count = tokens.count();
    Tensor own = x.narrow(0, first, count);
    if (tokens.mask.defined()) own = own * tokens.mask.squeeze(0).unsqueeze(1);
    pooled.push_back(spec_.class_token ? own[0] : own.sum(0) / spec_.length);
    first += count;
  }
  return torch::stack(pooled);  // [S·N, C]
}

Tensor SequenceModel::encode(const PackedSequences& batch) {
  const std::vector<Tokens> sequences = describe(batch);
  if (batch.tokens.size(0) == 0 && !spec_.class_token) {
    return torch::zeros({static_cast<int64_t>(batch.lengths.size()), words_.size(1)});
  }
  Tensor x = embed(batch);
  for (const auto& block : blocks_) x = block->forward(x, sequences);
  return pool(norm_(x), sequences);
}

Tensor SequenceModel::forward(const PackedSequences& batch) {
  Tensor pooled = encode(batch);
  if (spec_.sides == 2) {
    const auto sides = pooled.chunk(2, 0);
    const Tensor &a = sides[0], &b = sides[1];
    pooled = torch::cat({a, b, a * b, a - b}, -1);  // [N, 4·C]
  }
  return down_(torch::relu(up_(pooled)));
}

std::map<std::string, Tensor> tensors_of(SequenceModel& model) {
  std::map<std::string, Tensor> tensors;
  for (const auto& item : model.named_parameters()) tensors[item.key()] = item.value();
  for (const auto& item : model.named_buffers()) {
    if (item.value().is_floating_point()) tensors[item.key()] = item.value();
  }
  return tensors;
}

void load_sequence_weights(SequenceModel& model, const Weights& weights) {
  const torch::NoGradGuard no_grad;
  const auto tensors = tensors_of(model);
  for (const auto& [name, tensor] : tensors) {
    const auto found = weights.tensors.find(name);
    if (found == weights.tensors.end() || found->second.shape != tensor.sizes().vec()) {
      fail("'{}' has no fitting tensor '{}'", weights.path, name);
    }
    std::vector<float> values = to_floats(found->second);
    tensor.copy_(torch::from_blob(values.data(), tensor.sizes(), torch::kFloat32));
  }
  if (tensors.size() != weights.tensors.size()) {
    fail("'{}' has {} tensors, the model {}", weights.path, weights.tensors.size(), tensors.size());
  }
}

}  // namespace soft
