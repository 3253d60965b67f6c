// A model ready to answer. Which engine runs it is decided here, once, for every command.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/grid.h"
#include "base/npy.h"
#include "cli/model_options.h"
#include "engine/attend.h"
#include "weights/weights.h"

namespace soft {

enum class Engine {
  kNative,      // oneDNN and our own kernels, without LibTorch
  kTorch,       // LibTorch around our attention kernels
  kTorchPlain,  // LibTorch alone: every attention as its tensor expression
};

std::string_view name_of(Engine engine);
void add_engine_flag(CLI::App* command, std::string& engine);

// `asked` is what --engine says. When it says nothing the native engine is taken; a model it cannot
// run goes to LibTorch, with a line that says so.
Engine choose_engine(const std::string& asked, const ModelSpec& spec);

struct LoadedModel {
  Card card;        // of the weights, with --attention and --set applied to its spec
  Weights weights;  // fit that spec
};

// From the weights file; where none is given, random weights for --model.
LoadedModel load_model(const ModelOptions& options, uint64_t seed = 0);

// Pixels are normalised, [count, 3, size.h, size.w].
struct Runner {
  template <class Answer>
  using Question = std::function<Answer(const float* pixels, int64_t count, Grid size)>;

  Card card;
  Question<std::vector<float>> logits;    // [count, classes]
  Question<std::vector<float>> vectors;   // what the classifier reads, [count, C]
  Question<std::vector<Array>> features;  // after each stage, [count, C, H, W]
  RowSource rows;                         // of the attention matrices
};

Runner open_runner(const LoadedModel& model, Engine engine);

// The model that the flags name; without --weights the one in the box.
Runner open_runner(ModelOptions options, const std::string& engine);

}  // namespace soft
