#include "engine/stage.h"

#include <algorithm>

#include "describe/positions.h"

namespace soft {
namespace {

constexpr int64_t kTileFloats = 48 << 10;  // of the hidden layer: with the weights it fills L2
constexpr int64_t kFewestRows = 24;  // below this, reading the weights costs more than using them

// Tiles of equal size as far as possible, at least one for every worker.
int64_t tile_rows_for(int64_t rows, int64_t hidden, int team) {
  const int64_t most = std::max(kFewestRows, kTileFloats / hidden);
  const int64_t tiles = std::max<int64_t>(std::min<int64_t>(team, rows), (rows + most - 1) / most);
  return (rows + tiles - 1) / tiles;
}

}  // namespace

int64_t StageShape::tile_floats() const {
  return 2 * padded(tile_rows * dim()) + padded(tile_rows * hidden);
}

StageShape stage_shape(const Network& network, int index, Grid image, int team) {
  const PackedStage& stage = network.stages[index];
  StageShape shape;
  shape.input = index == 0 ? image : stage_grid(network.spec, index - 1, image);
  shape.mix = {stage.layers.front().attention, stage_grid(network.spec, index, image), stage.prefix,
               team};
  shape.hidden = stage.hidden();
  shape.projected = stage.projected();
  shape.tile_rows = tile_rows_for(shape.tokens(), shape.hidden, team);
  return shape;
}

StageCode::StageCode(const PackedStage& stage, const StageShape& shape)
    : positions(resized_positions(stage.positions,
                                  {stage.made_for, shape.mix.grid, stage.prefix, false, false})) {
  const int team = shape.mix.team;
  Grid map = shape.input;
  for (const Dense& conv : stage.embed) {
    embed.emplace_back(conv.shape, map, team, 1).adopt(conv);
    map = conv.shape.output(map);
  }
  const int64_t rest = shape.tokens() % shape.tile_rows;
  const auto rows = [&](const Dense& dense) {
    return RowRunner(dense.shape, {shape.tile_rows, rest, stage.prefix}, team);
  };
  const PackedLayer& first = stage.layers.front();
  project = rows(first.project);
  merge = rows(first.merge);
  up = rows(first.up);
  down = rows(first.down);
  for (const PackedLayer& layer : stage.layers) {
    project.adopt(layer.project);
    merge.adopt(layer.merge);
    up.adopt(layer.up);
    down.adopt(layer.down);
  }
}

}  // namespace soft
