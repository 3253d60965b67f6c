// Numbers that can be answers. Both engines check what they computed once, and look for the place
// where it went wrong only when it did.
#pragma once

#include <cstdint>
#include <string>

namespace soft {

bool all_finite(const float* values, int64_t count);  // neither NaN nor infinity among them

// Places inside a model, counted from 1 as people do; the arguments count from 0.
std::string embedding_place(int stage);
std::string layer_place(int stage, int layer);
std::string attention_place(int stage, int layer);
std::string classifier_place();

// `place` is the first whose output is not finite.
[[noreturn]] void fail_not_finite(const std::string& place);

}  // namespace soft
