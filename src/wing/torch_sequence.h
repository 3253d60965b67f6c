// Entries of the wing for sequences.
#pragma once

#include "weights/weights.h"
#include "wing/sequence.h"

namespace soft {

SequenceOutcome train_sequences(const SequenceTrainRequest& request, const SequenceEvents& events);
SequenceAnswers open_sequence_model(const Weights& weights, int threads);

}  // namespace soft
