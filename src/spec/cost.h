// Parameters, multiply-accumulates and memory of a model, from its row alone.
// MACs count convolutions, linears, the landmark sampler, the value path and the attention products
// in the order in which they are computed (right to left); not norms, activations or exp.
#pragma once

#include <cstdint>
#include <vector>

#include "spec/model_spec.h"

namespace soft {

struct StageCost {
  Grid grid;                 // tokens, class token aside
  int64_t landmarks = 0;     // per head, or rows of a projected K; 0 where there are none
  int64_t params = 0;        // patch embedding, positions, class token and layers
  int64_t macs = 0;          // without the iterative inverse
  int64_t inverse_macs = 0;  // 2·T·m³ per head and layer; nystromformer 24·m³
};

struct ModelCost {
  std::vector<StageCost> stages;
  int64_t head_params = 0;  // final norm and classifier
  int64_t head_macs = 0;
  int64_t params = 0;
  int64_t macs = 0;
  int64_t macs_with_inverse = 0;
  int64_t weight_bytes = 0;      // float32, BN's running statistics and random features included
  int64_t activation_bytes = 0;  // the largest set of tensors alive at once in one layer, batch 1

  double gmacs() const { return 1e-9 * static_cast<double>(macs); }
};

// Refuses a model whose counts do not fit into 64 bits.
ModelCost cost_of(const ModelSpec& spec, Grid image);

// Landmarks of one head on this grid (linformer: rows of its projected K), by the mechanism's own
// rule; 0 where it has none.
int64_t landmark_count(const AttentionSpec& spec, Grid grid);

// Reformer's buckets: so many that each has bucket_size tokens on average, and an even number.
int64_t bucket_count(const AttentionSpec& spec, int64_t tokens);

}  // namespace soft
