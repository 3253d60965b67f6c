// One maker per mechanism; each lives in the file of its name.
#pragma once

#include <memory>

#include "attention/attention.h"

namespace soft {

std::shared_ptr<Attention> make_soft(const AttentionSpec& spec);
std::shared_ptr<Attention> make_soft_dense(const AttentionSpec& spec);
std::shared_ptr<Attention> make_softmax(const AttentionSpec& spec);
std::shared_ptr<Attention> make_gaussian(const AttentionSpec& spec);
std::shared_ptr<Attention> make_linformer(const AttentionSpec& spec);
std::shared_ptr<Attention> make_performer(const AttentionSpec& spec);
std::shared_ptr<Attention> make_nystromformer(const AttentionSpec& spec);
std::shared_ptr<Attention> make_reformer(const AttentionSpec& spec);
std::shared_ptr<Attention> make_none(const AttentionSpec& spec);

}  // namespace soft
