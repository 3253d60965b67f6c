// Parameters, multiply-accumulates and memory of a model: sums over its description.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "describe/description.h"

namespace soft {

struct StageCost {
  Grid grid;                     // tokens, class token aside
  int64_t landmarks = 0;         // per head, or rows of a projected K; 0 where there are none
  int64_t params = 0;            // patch embedding, positions, class token and layers
  int64_t macs = 0;              // without the iterative inverse
  int64_t inverse_macs = 0;      // 2·T·m³ per head and layer; nystromformer 24·m³
  int64_t dim = 0;               // channels of its answer
  int depth = 0;                 // layers
  int heads = 0;                 // 0 where no mechanism of SOFT's table mixes
  std::string attention;         // that mechanism; "" likewise
  int64_t activation_bytes = 0;  // the most that is alive at once, batch 1
};

struct ModelCost {
  std::vector<StageCost> stages;
  int64_t head_params = 0;  // final norm and classifier
  int64_t head_macs = 0;
  int64_t params = 0;
  int64_t macs = 0;
  int64_t macs_with_inverse = 0;
  int64_t weight_bytes = 0;      // float32, BN's running statistics and random features included
  int64_t embedding = 0;         // channels that the classifier reads
  int64_t activation_bytes = 0;  // of the stage that needs most

  double gmacs() const { return 1e-9 * static_cast<double>(macs); }
};

// Refuses a model whose counts do not fit into 64 bits.
ModelCost cost_of(const ModelSpec& spec, Grid image);
ModelCost cost_of(const Description& model);

}  // namespace soft
