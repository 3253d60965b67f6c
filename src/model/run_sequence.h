// What operations do to a batch of sequences that lie one behind the other, [1, T, C]: each within
// itself, so that no step is spent on padding and a sequence's result depends on nothing else.
#pragma once

#include "attention/attention.h"
#include "describe/operation.h"
#include "model/input.h"

namespace soft {

torch::Tensor with_order(const torch::Tensor& x, const torch::Tensor& rows,
                         const PackedSequences& batch);

// One in front of each sequence.
torch::Tensor with_class_tokens(const torch::Tensor& x, const torch::Tensor& token,
                                const PackedSequences& batch);

torch::Tensor mix_each(Attention& attention, const std::vector<torch::Tensor>& qkv,
                       const op::Mix& mix, const PackedSequences& batch, bool training);

torch::Tensor pool_each(const torch::Tensor& x, const op::Pool& pool,
                        const PackedSequences& batch);  // [S·N, C]

}  // namespace soft
