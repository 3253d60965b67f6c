// A run on a task of sequences, before its first step: what recipe.json holds, and the data.
#pragma once

#include <string>
#include <vector>

#include "data/sequence.h"
#include "train/one_cycle.h"
#include "train/same_data.h"
#include "wing/sequence.h"

namespace soft {

struct SequenceRun {
  std::string task, data;
  SequenceSpec spec;
  OneCycle cycle;
  int64_t batch = 32, eval_every = 50, cut = 2000;
  uint64_t seed = 1;
  int64_t limit_train = 0, limit_dev = 0, limit_test = 0;
  bool black_is_padding = false;
  DataMark mark;  // as the data had it when the run began
};

struct SequenceSets {
  SequenceSet train, dev, test;
};

SequenceRun make_run(const SequenceTrainRequest& request);
SequenceRun read_sequence_run(const std::string& file);
SequenceRun parse_sequence_run(const std::string& text, const std::string& file);
Json to_json(const SequenceRun& run);

// "steps 1000 instead of 5000", …: what differs from the protocol of the task.
std::vector<std::string> deviations_of(const SequenceRun& run);

// Own data bring their own number of classes. Fails when a resumed run began with others.
SequenceSets open_sets(SequenceRun& run);

}  // namespace soft
