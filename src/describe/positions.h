// Learned positions on another grid than the one they were made for, without LibTorch
// (src/model/positions.h is the same with its tensors).
#pragma once

#include <vector>

#include "describe/operation.h"

namespace soft {

// [prefix + made_for, C] -> [prefix + grid, C], bilinearly or bicubically (pixel centres aligned,
// no antialiasing). Class tokens' own vectors stay.
std::vector<float> resized_positions(const std::vector<float>& stored,
                                     const op::Position& position);

}  // namespace soft
