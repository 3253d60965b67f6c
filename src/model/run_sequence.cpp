#include "model/run_sequence.h"

#include "attention/torch.h"

namespace soft {
namespace {

using torch::Tensor;

// The tokens of each sequence, `prefix` class tokens included, which lie along axis 1. Taken apart
// at once: each part cut out by itself would have a gradient as long as all of them together.
std::vector<Tensor> apart(const Tensor& x, int64_t prefix, const PackedSequences& batch) {
  std::vector<int64_t> counts;
  for (const int64_t length : batch.lengths) counts.push_back(prefix + length);
  return x.split_with_sizes(counts, 1);
}

Tokens tokens_of(const op::Mix& mix, const PackedSequences& batch, size_t sequence, bool training) {
  Tokens tokens{{batch.lengths[sequence], 1}, mix.prefix, {}, training, {}};
  if (const Tensor& real = batch.real[sequence]; real.defined()) {
    const Tensor front = torch::ones({mix.prefix}, torch::kBool);
    tokens.mask = torch::cat({front, real}).unsqueeze(0);  // [1, n]
  }
  return tokens;
}

}  // namespace

Tensor with_order(const Tensor& x, const Tensor& rows, const PackedSequences& batch) {
  std::vector<Tensor> places;
  for (const int64_t length : batch.lengths) places.push_back(rows.narrow(0, 0, length));
  return x + torch::cat(places).unsqueeze(0);
}

Tensor with_class_tokens(const Tensor& x, const Tensor& token, const PackedSequences& batch) {
  std::vector<Tensor> parts;
  for (const Tensor& own : apart(x, 0, batch)) {
    parts.push_back(token.view({1, 1, -1}));
    parts.push_back(own);
  }
  return torch::cat(parts, 1);
}

Tensor mix_each(Attention& attention, const std::vector<Tensor>& qkv, const op::Mix& mix,
                const PackedSequences& batch, bool training) {
  const bool shared = qkv[1].is_same(qkv[0]);
  const auto q = apart(qkv[0], mix.prefix, batch), v = apart(qkv[2], mix.prefix, batch);
  const auto k = shared ? q : apart(qkv[1], mix.prefix, batch);
  std::vector<Tensor> mixed;
  for (size_t i = 0; i < q.size(); ++i) {
    if (q[i].size(1) == 0) continue;
    mixed.push_back(
        attention.forward(attention.split(q[i], k[i], v[i]), tokens_of(mix, batch, i, training)));
  }
  return torch::cat(mixed, 1);  // [1, T, C]
}

// A class token is there whatever its sequence holds.
Tensor pool_each(const Tensor& x, const op::Pool& pool, const PackedSequences& batch) {
  const auto sequences = apart(x, pool.first ? 1 : 0, batch);
  std::vector<Tensor> pooled;
  for (size_t i = 0; i < sequences.size(); ++i) {
    Tensor own = sequences[i].squeeze(0);  // [n, C]
    if (pool.first) {
      pooled.push_back(own[0]);
      continue;
    }
    if (batch.real[i].defined()) own = own * batch.real[i].unsqueeze(1);
    pooled.push_back(own.sum(0) / (pool.divisor > 0 ? pool.divisor : own.size(0)));
  }
  return torch::stack(pooled);
}

}  // namespace soft
