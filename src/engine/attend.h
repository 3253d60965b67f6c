// Where a patch of a picture looks: rows of the attention matrix as maps over the picture, for
// `soft attend` and the server.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/grid.h"
#include "base/json.h"
#include "engine/question.h"
#include "image/transform.h"
#include "weights/weights.h"

namespace soft {

// A whole picture, not cropped, as the model reads it. Serves any number of queries.
struct AttendInput {
  Grid picture;               // pixels of the upright picture, which queries count in
  Grid size;                  // pixels of the input
  std::vector<float> pixels;  // [3, size.h, size.w]
};

// Resized to size x size, whatever its shape; 0 means the model's own size. Position embeddings
// follow the input, so that a larger one gives finer maps.
AttendInput attend_input(const Image& upright, const Preprocessing& preprocessing, int size = 0);
AttendInput attend_input(const Image& upright, const Preprocessing& preprocessing, Grid size);

// Stages, layers and heads count from 1, as on the command line.
struct AttendRequest {
  static constexpr int kDefault = 0;
  static constexpr int kAll = -1;
  static constexpr int kBest = -2;  // as a stage: where best_head is

  int x = 0, y = 0;      // the query, a pixel of the upright picture
  int stage = kDefault;  // stage 2, or the only one
  int layer = kDefault;  // the stage's last, or the best head's; or kAll
  int head = kDefault;   // the first two, or the best; or kAll
};

struct AttendRow {
  int stage = 0, layer = 0, head = 0;  // from 1
  double share = 0;                    // the head's, see HeadShare
  double layer_share = 0;              // mean over the layer's heads
  std::vector<float> row;              // [grid.h, grid.w]; may have negative entries

  bool idle() const { return share < kIdleShare; }
};

struct AttendResult {
  Grid grid;          // tokens of the stage; a class token has no place in it
  int64_t token = 0;  // the query's, row by row
  std::vector<AttendRow> rows;
  std::optional<HeadPlace> best;  // where it was asked for
};

// The head that is shown where nobody asks for another: the one that the weights' card names.
// Otherwise, of the layers that mix as the first stage does (not the softmax behind SOFT's), the
// one with the largest mean share in this picture, and the head with the largest share in it.
HeadPlace best_head(const Card& card, const Answers& model, const AttendInput& input);

// A usage error says which stage, layer, head or pixel does not exist.
AttendResult attend(const Card& card, const Answers& model, const AttendInput& input,
                    const AttendRequest& request);

// The same as JSON: {"grid":[h,w],"rows":[{"stage","layer","head","share","layer_share","idle",
// "row":[…]}]}, and "best":{"stage","layer","head"} where it was asked for.
Json to_json(const AttendResult& result);

}  // namespace soft
