// What a model is asked. Pictures now; a model that reads something else (token ids with a mask, a
// pair of texts) adds its tensors here and an operation that takes them (describe/operation.h).
#pragma once

#include <torch/types.h>

#include "base/grid.h"

namespace soft {

struct Input {
  torch::Tensor pixels;  // [B, 3, H, W], normalised

  Input(torch::Tensor images) : pixels(std::move(images)) {}  // NOLINT: a picture is an input

  int64_t batch() const { return pixels.size(0); }
  Grid size() const { return {pixels.size(2), pixels.size(3)}; }  // that the model is described for
};

}  // namespace soft
