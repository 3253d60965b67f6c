// Everything between two attentions works token by token. So one worker takes a tile of tokens
// through all of it (output projection, norms, MLP, the next layer's projection) while the tile
// stays in its cache.
#pragma once

#include "engine/stage.h"

namespace soft {

// The rows of one tile, and scratch to work on them.
struct TileRows {
  int64_t count;
  float* x;            // [count, C] tokens, in place
  float* projected;    // [count, Q|V] out: what the next attention reads
  const float* mixed;  // [count, C] in: what the last attention gave
  float* branch;       // [count, C] scratch: a branch before it joins x
  float* normed;       // [count, C] scratch
  float* hidden;       // [count, hidden] scratch
};

// What comes after a layer: another one of the same stage, or the network's last norm, or neither.
struct Following {
  const PackedLayer* layer = nullptr;
  const Norm* last_norm = nullptr;
};

class TilePass {
 public:
  TilePass(const StageCode& code, int worker, const TileRows& rows)
      : code_(code), worker_(worker), rows_(rows) {}

  // x += positions, then the first layer's projection. The first `skip` rows are class tokens,
  // which take no part in the norm after PVT's patch embedding.
  void enter(const PackedStage& stage, const float* positions, int64_t skip) const;

  // The rest of a layer after its attention, up to the next attention or the end of the stage.
  void leave(const PackedLayer& layer, const Following& next) const;

 private:
  void leave_post(const PackedLayer& layer, const Following& next) const;
  void leave_pre(const PackedLayer& layer, const Following& next) const;
  void perceptron(const PackedLayer& layer, const float* input) const;
  void project(const PackedLayer& layer, const float* input) const;
  void norm_sum(const Norm& norm, const float* branch, float* out, float* sum) const;

  const StageCode& code_;
  int worker_;
  TileRows rows_;
};

}  // namespace soft
