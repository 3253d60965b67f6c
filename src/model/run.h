// The operations of a description as LibTorch runs them: one function for all of them, so that a
// model is nothing but its parts in their order. The fast paths (src/attention/fast_path.h) are
// behind the operations; who walks the parts does not see them.
#pragma once

#include <memory>
#include <vector>

#include "attention/attention.h"
#include "describe/description.h"
#include "model/input.h"

namespace soft {

// What is dropped from residual branches in training. Released SOFT training drops single elements
// at the stochastic-depth rate in post-norm layers, and whole samples in ViT blocks.
struct Drop {
  double rate = 0;             // of the last layer; the others' are smaller
  bool whole_samples = false;  // in post-norm layers, too
};

// A part with what it needs besides its inputs.
struct PartRun {
  const Part& part;
  std::vector<torch::Tensor> tensors;  // as operation.h says
  Attention* attention = nullptr;      // of a mix
  bool training = false;
  Drop drop;
};

// The tokens that a mix works on.
Tokens tokens_of(const op::Mix& mix, bool training);

// The part's output; `inputs` are those of the part, `input` what the model was asked.
torch::Tensor run(const PartRun& run, const std::vector<torch::Tensor>& inputs, const Input& input);

}  // namespace soft
