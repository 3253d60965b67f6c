// Models of sequences as a description: spec/sequence_spec.h says what they are.
#pragma once

#include "describe/description.h"
#include "spec/sequence_spec.h"

namespace soft {

// The model of a valid spec on sequences of this many tokens, class token aside. A pair's encoder
// stands in it once and counts twice.
Description describe(const SequenceSpec& spec, int64_t length);

}  // namespace soft
