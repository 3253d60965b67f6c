#include "model/run_sequence.h"

#include "attention/torch.h"

namespace soft {
namespace {

using torch::Tensor;

// Calls visit(sequence, first, count) for the tokens of each, `prefix` class tokens included.
template <class Visit>
void for_each_sequence(const PackedSequences& batch, int64_t prefix, const Visit& visit) {
  int64_t first = 0;
  for (size_t i = 0; i < batch.lengths.size(); ++i) {
    const int64_t count = prefix + batch.lengths[i];
    visit(i, first, count);
    first += count;
  }
}

Tensor joined(const std::vector<Tensor>& parts, const Tensor& none) {
  return parts.empty() ? none : torch::cat(parts, 1);
}

Heads part_of(const Heads& heads, int64_t first, int64_t count) {
  const auto own = [&](const Tensor& t) { return t.narrow(2, first, count); };
  const Tensor q = own(heads.q);
  return {q, heads.k.is_same(heads.q) ? q : own(heads.k), own(heads.v)};
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
  std::vector<Tensor> parts;
  for_each_sequence(batch, 0, [&](size_t, int64_t first, int64_t count) {
    if (count > 0) parts.push_back(x.narrow(1, first, count) + rows.narrow(0, 0, count));
  });
  return joined(parts, x);
}

Tensor with_class_tokens(const Tensor& x, const Tensor& token, const PackedSequences& batch) {
  std::vector<Tensor> parts;
  for_each_sequence(batch, 0, [&](size_t, int64_t first, int64_t count) {
    parts.push_back(token.view({1, 1, -1}));
    if (count > 0) parts.push_back(x.narrow(1, first, count));
  });
  return joined(parts, x);
}

Tensor mix_each(Attention& attention, const Heads& heads, const op::Mix& mix,
                const PackedSequences& batch, bool training) {
  std::vector<Tensor> mixed;
  for_each_sequence(batch, mix.prefix, [&](size_t i, int64_t first, int64_t count) {
    if (count == 0) return;
    const Heads own = part_of(heads, first, count);
    mixed.push_back(attention.forward(own, tokens_of(mix, batch, i, training)));
  });
  return torch::cat(mixed, 1);  // [1, T, C]
}

// A class token is there whatever its sequence holds.
Tensor pool_each(const Tensor& x, const op::Pool& pool, const PackedSequences& batch) {
  const Tensor tokens = x.squeeze(0);  // [T, C]
  std::vector<Tensor> pooled;
  for_each_sequence(batch, pool.first ? 1 : 0, [&](size_t i, int64_t first, int64_t count) {
    Tensor own = tokens.narrow(0, first, count);
    if (pool.first) return pooled.push_back(own[0]);
    if (batch.real[i].defined()) own = own * batch.real[i].unsqueeze(1);
    pooled.push_back(own.sum(0) / (pool.divisor > 0 ? pool.divisor : count));
  });
  return torch::stack(pooled);
}

}  // namespace soft
