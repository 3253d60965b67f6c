// What a model of sequences costs.
#pragma once

#include <cstdint>

#include "spec/sequence_spec.h"

namespace soft {

// Multiply-accumulates of one example at the task's full length, the iterative inverse included.
int64_t sequence_macs(const SequenceSpec& spec);

}  // namespace soft
