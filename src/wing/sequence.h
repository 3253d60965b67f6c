// What the torch wing does with sequences: trains a model on a task, and answers with a trained
// one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "spec/sequence_spec.h"
#include "wing/training.h"

namespace soft {

struct SequenceTrainRequest {
  std::string task;  // listops, text, retrieval, image
  std::string data;  // a folder or file of the task, or a spec of data/sequence.h
  SequenceSettings model;
  std::optional<int64_t> steps, batch, eval_every;  // default: the task's own
  double lr = 1e-4;
  uint64_t seed = 1;
  int64_t limit_train = 0, limit_dev = 0, limit_test = 0;  // at most so many examples; 0: all
  bool black_is_padding = false;                           // image: as the public protocol has it

  std::string out;
  bool restart = false;  // begin anew in `out`; what is there is moved aside
  bool resume = false;   // everything but `out` and what follows comes from the run's own file
  int threads = 0;
  double save_minutes = 5;
  int64_t save_steps = 0;  // or every so many steps; 0: by time alone
};

// Rows are evaluations on the development examples; `epoch` of a row is the step behind which it
// was made, `top1` the accuracy there.
struct SequenceEvents {
  std::function<void(const Json& run)> start;  // everything the run depends on
  std::function<void(int64_t step, int64_t steps, double loss, double seconds_left)> step;
  std::function<void(const EpochRow&)> row;
  std::function<void(const std::string&)> notice;
  std::function<bool()> should_stop;
};

struct SequenceOutcome {
  Json result;  // of a finished run, as result.json has it
  bool interrupted = false;
};

// A trained model. `tokens` [sides·count, width], 0 for padding; logits [count, classes].
struct SequenceAnswers {
  std::function<std::vector<float>(const int32_t* tokens, int64_t count, int64_t width)> logits;
};

}  // namespace soft
