// The state of a training run on disk: everything needed to go on as if nothing had happened. One
// safetensors file per state, written whole or not at all, with a checksum; the last two are kept.
#pragma once

#include <torch/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "wing/training.h"

namespace soft {

// Where a run stands. Kept beside the tensors as JSON.
struct Position {
  int64_t epoch = 0;                     // the epoch under way, from 0
  int64_t batch = 0;                     // batches of it already used,
  int64_t batches = 0;                   // and batches it has
  int64_t step = 0;                      // optimizer steps so far
  double loss_sum = 0, loss_weight = 0;  // of the epoch under way
  double seconds = 0;                    // spent on it, in this and earlier processes
  std::vector<EpochRow> rows;            // finished epochs
};

using NamedTensors = std::map<std::string, torch::Tensor>;

struct State {
  Position position;
  NamedTensors tensors;  // model.*, ema.*, mean.*, square.*, generator
};

class StateFolder {
 public:
  explicit StateFolder(std::string folder) : folder_(std::move(folder)) {}

  // Writes one more state and removes all but the last two up to it. Later ones, of a course that
  // was given up, go as well.
  void save(const State& state) const;

  // The newest state that is whole; broken ones are named in the log. Nothing when there is none.
  std::optional<State> load() const;

  std::string newest() const;  // its path; "" when there is none

 private:
  std::vector<std::string> paths() const;  // oldest first
  std::string folder_;
};

}  // namespace soft
