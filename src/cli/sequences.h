// Trained models of sequences as commands use them.
#pragma once

#include <string>
#include <vector>

#include "data/sequence.h"
#include "facade/sequence_runner.h"
#include "metric/tally.h"

namespace soft {

// Right answers over a whole set, with progress on stderr.
Tally tally_sequences(const SequenceRunner& runner, const SequenceSet& set, int64_t batch);

SequenceSet open_for(const SequenceCard& card, const std::string& data, SequencePart part,
                     int64_t limit);

struct SequenceEvalOptions {
  ModelOptions model;
  std::string engine;
  std::string data;  // empty: that of the training
  std::string part = "test";
  int64_t limit = 0, batch = 32;
  bool json = false;
};
void evaluate_sequences(const SequenceEvalOptions& options);

struct SequenceClassifyOptions {
  std::vector<std::string> inputs;  // files, or - for standard input
  int top = 5;
  bool json = false;
};
void classify_texts(const SequenceRunner& runner, const SequenceClassifyOptions& options);

}  // namespace soft
