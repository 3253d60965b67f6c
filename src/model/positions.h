// Learned positions for another grid than the one they were made for.
#pragma once

#include <torch/types.h>

#include "describe/operation.h"

namespace soft {

// [1, prefix + made_for, C] -> [1, prefix + grid, C]; class tokens' own vectors stay.
torch::Tensor resized_positions(const torch::Tensor& positions, const op::Position& position);

// Tokens without their class tokens, back on the grid: [B, n, C] -> [B, C, H, W]; maps as they are.
torch::Tensor as_map(const torch::Tensor& tokens, int64_t prefix, Grid grid);

}  // namespace soft
