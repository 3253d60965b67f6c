// The torch form of spec/sequence_spec.h.
#pragma once

#include "model/described_model.h"
#include "spec/sequence_spec.h"

namespace soft {

class SequenceModel : public DescribedModel {
 public:
  explicit SequenceModel(const SequenceSpec& spec);

  torch::Tensor forward(const PackedSequences& batch);  // [N, classes]
  torch::Tensor encode(const PackedSequences& batch);   // [S·N, C], pooled

  const SequenceSpec& spec() const { return spec_; }

 private:
  SequenceSpec spec_;
};

}  // namespace soft
