// What an engine is asked and what it answers: the same for every engine.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/grid.h"
#include "base/npy.h"

namespace soft {

struct ImageBatch {
  const float* pixels;  // [count, 3, size.h, size.w], normalised as the model's card says
  int64_t count;
  Grid size;
};

struct RowQuery {
  int stage = 0;      // from 0
  int layer = 0;      // from 0
  int64_t token = 0;  // on the stage's grid, row by row
  int layers = 1;     // this many, from `layer` on, in one pass
};

// That token's row of every head's attention matrix, value path aside: [count, layers·heads, n]. A
// class token comes first in n.
using RowSource = std::function<Array(const ImageBatch& images, const RowQuery& query)>;

// A model that answers, again and again. An answer that would not be finite is an Error that names
// the first layer at fault.
struct Answers {
  template <class Answer>
  using Question = std::function<Answer(const ImageBatch& images)>;

  Question<std::vector<float>> logits;    // [count, classes]
  Question<std::vector<float>> vectors;   // what the classifier reads, [count, C]
  Question<std::vector<Array>> features;  // after each stage, [count, C, H, W]; the last one after
                                          // the final norm, without class token
  RowSource rows;
};

}  // namespace soft
