#include "describe/sequence_cost.h"

#include "describe/mix.h"

namespace soft {

int64_t sequence_macs(const SequenceSpec& spec) {
  const AttentionSpec attention = attention_of(spec);
  const int64_t dim = attention.dim, prefix = spec.class_token ? 1 : 0, n = spec.length + prefix;
  const int64_t projections = shares_query_and_key(attention.mechanism) ? 3 : 4;
  const int64_t linears = n * (projections * dim * dim + 2 * dim * spec.hidden);
  const PartCost mix = mix_cost({attention, {spec.length, 1}, prefix});
  const auto layer = linears + static_cast<int64_t>(mix.macs + mix.inverse_macs);
  const int64_t pooled = spec.sides == 2 ? 4 * dim : dim;
  const int64_t head = spec.hidden * (pooled + spec.frame.classes);
  return spec.sides * spec.frame.stages[0].depth * layer + head;
}

}  // namespace soft
