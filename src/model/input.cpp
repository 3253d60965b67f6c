#include "model/input.h"

#include <algorithm>

#include "attention/torch.h"

namespace soft {

PackedSequences pack(const int32_t* tokens, int64_t count, int64_t width, int sides) {
  PackedSequences batch;
  batch.sides = sides;
  std::vector<int64_t> packed;
  for (const int32_t* row = tokens; row != tokens + count * width; row += width) {
    int64_t length = width;
    while (length > 0 && row[length - 1] == 0) --length;
    const bool whole = std::find(row, row + length, 0) == row + length;
    batch.lengths.push_back(length);
    packed.insert(packed.end(), row, row + length);
    const std::vector<int32_t> own(row, row + length);
    batch.real.push_back(whole ? torch::Tensor() : torch::tensor(own).ne(0));
  }
  batch.tokens = torch::tensor(packed, torch::kInt64);  // [T]
  return batch;
}

}  // namespace soft
