// The torch form of spec/sequence_spec.h. A batch's sequences lie one behind the other, so that no
// step is spent on padding, and a sequence's result depends on nothing but the sequence.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "attention/attention.h"
#include "spec/sequence_spec.h"
#include "weights/weights.h"

namespace soft {

// S·N sequences, padding at their ends left away: T tokens in all.
struct PackedSequences {
  torch::Tensor tokens;          // [T] int64; 0 inside a sequence is a token that is not there
  std::vector<int64_t> lengths;  // of each sequence, 0 allowed
  int sides = 1;                 // first all first sides, then all second ones
};

// tokens [count, width], row by row; what follows a row's last token that is not 0 is left away.
PackedSequences pack(const int32_t* tokens, int64_t count, int64_t width, int sides);

class SequenceModel : public torch::nn::Module {
 public:
  explicit SequenceModel(const SequenceSpec& spec);

  torch::Tensor forward(const PackedSequences& batch);  // [N, classes]
  torch::Tensor encode(const PackedSequences& batch);   // [S·N, C], pooled

  void start_step(int64_t step);  // see Attention::start_step
  const SequenceSpec& spec() const { return spec_; }

 private:
  class Block;

  torch::Tensor embed(const PackedSequences& batch);
  torch::Tensor pool(const torch::Tensor& x, const std::vector<Tokens>& sequences) const;
  torch::Tensor dropped(const torch::Tensor& x) const;
  std::vector<Tokens> describe(const PackedSequences& batch) const;

  SequenceSpec spec_;
  torch::Tensor words_, places_, class_token_;  // [V, C], [n, C], [C]
  std::vector<std::shared_ptr<Block>> blocks_;
  torch::nn::LayerNorm norm_{nullptr};
  torch::nn::Linear up_{nullptr}, down_{nullptr};
};

// Parameters and what is drawn rather than learned, as files hold them.
std::map<std::string, torch::Tensor> tensors_of(SequenceModel& model);

// Copies every tensor of the file into the model; an Error names what is missing or misshapen.
void load_sequence_weights(SequenceModel& model, const Weights& weights);

}  // namespace soft
