// What a model is asked: pictures, or sequences. A model that reads something else adds its tensors
// here and an operation that takes them (describe/operation.h).
#pragma once

#include <torch/types.h>

#include <utility>
#include <vector>

#include "base/grid.h"

namespace soft {

// S·N sequences one behind the other, padding at their ends left away: T tokens in all.
struct PackedSequences {
  torch::Tensor tokens;             // [T] int64; 0 inside a sequence is a token that is not there
  std::vector<int64_t> lengths;     // of each sequence, 0 allowed
  std::vector<torch::Tensor> real;  // likewise [length] bool; undefined where all tokens are there
  int sides = 1;                    // first all first sides, then all second ones
};

// tokens [count, width], row by row; what follows a row's last token that is not 0 is left away.
PackedSequences pack(const int32_t* tokens, int64_t count, int64_t width, int sides);

struct Input {
  torch::Tensor pixels;  // [B, 3, H, W], normalised; undefined for sequences
  PackedSequences sequences;

  Input(torch::Tensor images) : pixels(std::move(images)) {}       // NOLINT: implicit
  Input(PackedSequences packed) : sequences(std::move(packed)) {}  // NOLINT: implicit

  bool is_sequences() const { return !pixels.defined(); }
  int64_t batch() const { return pixels.size(0); }
  Grid size() const { return {pixels.size(2), pixels.size(3)}; }  // that the model is described for
};

}  // namespace soft
