// Learned positions on the grid of an image.
#pragma once

#include <vector>

#include "engine/network.h"

namespace soft {

// [prefix + grid, C]: the stored positions, bilinearly resized (pixel centres aligned, no
// antialiasing) when the grid is not the one they were made for. A class token's vector stays.
std::vector<float> positions_for(const PackedStage& stage, Grid grid);

}  // namespace soft
