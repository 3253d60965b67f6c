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

// What a head adds beside what its V holds, rms(Y) / rms(V) over all tokens of the pictures, value
// path aside; NaN where V is 0 throughout. Below kIdleShare its map shows next to nothing.
constexpr double kIdleShare = 1e-3;

struct HeadShare {
  int stage = 0, layer = 0, head = 0;  // counted from 1
  double share = 0;
};

// That token's row of every head's attention matrix, value path aside.
struct AttentionRows {
  Array maps;                  // [count, layers·heads, n]; a class token comes first in n
  std::vector<double> shares;  // of these heads, [layers·heads]
};
using RowSource = std::function<AttentionRows(const ImageBatch& images, const RowQuery& query)>;

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
  Question<std::vector<HeadShare>> shares;  // of every head, in the order in which they run
};

}  // namespace soft
