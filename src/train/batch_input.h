// A batch of pictures as a model reads it.
#pragma once

#include <ATen/ops/from_blob.h>

#include "data/batch.h"
#include "model/input.h"

namespace soft {

// A view: the batch must outlive it.
inline Input input_of(const Batch& batch) {
  return torch::from_blob(const_cast<float*>(batch.pixels.data()),
                          {batch.count, 3, batch.size, batch.size}, torch::kFloat32);
}

}  // namespace soft
