// One stage of the network on the grid of one image size: its sizes, and the compiled code of its
// layers.
#pragma once

#include <vector>

#include "engine/mix.h"
#include "engine/network.h"

namespace soft {

// Rows [begin, begin + count) of a stage's tokens, done in one go by one worker.
struct Tile {
  int64_t begin;
  int64_t count;
};

struct StageShape {
  Grid input;  // the map that the stage's convolutions read
  MixShape mix;
  int64_t hidden = 0;
  int64_t projected = 0;  // width of Q|V or Q|K|V
  int64_t tile_rows = 0;  // the last tile may have fewer

  int64_t tokens() const { return mix.tokens(); }
  int64_t dim() const { return mix.spec.dim; }
  int64_t tiles() const { return (tokens() + tile_rows - 1) / tile_rows; }
  Tile tile(int64_t index) const {
    const int64_t begin = index * tile_rows;
    return {begin, std::min(tile_rows, tokens() - begin)};
  }
  int64_t tile_floats() const;  // scratch for one tile
};

StageShape stage_shape(const Network& network, int stage, Grid image, int team);

// The compiled code of a stage; all its layers share it.
struct StageCode {
  StageCode(const PackedStage& stage, const StageShape& shape);

  std::vector<DenseRunner> embed;
  RowRunner project, merge, up, down;
  std::vector<float> positions;  // [n, C], class token included
};

}  // namespace soft
