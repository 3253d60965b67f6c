// Parts of a description that the native engine runs as one: attention written out as two products
// around a softmax, and a residual sum with the convolution in front and the ReLU behind it.
#pragma once

#include <vector>

#include "describe/description.h"

namespace soft {

struct Task {
  int part = 0;             // whose value it gives
  std::vector<int> inputs;  // parts
  int convolution = -1;     // a residual sum: the part that is added onto inputs[1]
  bool relu = false;        // behind a residual sum
  double scale = 0;         // of scores, where the task is an attention; else 0
};

// In an order that runs.
std::vector<Task> fused(const Description& model);

}  // namespace soft
