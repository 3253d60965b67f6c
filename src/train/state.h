// The state of a training run on disk: everything needed to go on as if nothing had happened. One
// safetensors file per state, written whole or not at all, with a checksum; the last two are kept.
#pragma once

#include <torch/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "train/state_file.h"

namespace soft {

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
