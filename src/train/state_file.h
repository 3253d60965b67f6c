// A training state as a file, without LibTorch: tensors, where the run stands as JSON beside them,
// and checksums over both. train/state.h makes tensors of it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "weights/weights.h"
#include "wing/training.h"

namespace soft {

// Where a run stands.
struct Position {
  int64_t epoch = 0;                     // the epoch under way, from 0
  int64_t batch = 0;                     // batches of it already used,
  int64_t batches = 0;                   // and batches it has
  int64_t step = 0;                      // optimizer steps so far
  int64_t pictures = 0;                  // that make one batch of all ranks; 0: not known
  double loss_sum = 0, loss_weight = 0;  // of the epoch under way
  double seconds = 0;                    // spent on it, in this and earlier processes
  std::vector<EpochRow> rows;            // finished epochs
};

std::string to_text(const Position& position);
Position position_from_text(const std::string& text, const std::string& where);

struct StateFile {
  Position position;
  Weights file;  // holds the tensors, of bytes and of floats
};

// Fails, naming the file and the defect, when a checksum is wrong or a number cannot be.
StateFile read_state_file(const std::string& path);
StateFile state_of(Weights file);  // the same of a file that is open

// What stands beside the tensors: the position's text, and checksums over it and over them.
std::map<std::string, std::string> state_metadata(const std::string& position,
                                                  const std::map<std::string, TensorView>& tensors);

// Written whole or not at all.
void write_state_file(const std::string& path, const Position& position,
                      const std::vector<NamedTensor>& tensors);

}  // namespace soft
