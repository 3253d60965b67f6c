// The door between the light side and LibTorch. Plain structs in and out; the torch wing is a
// shared library that is opened when a command first needs it, since merely linking LibTorch costs
// most of a second.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/npy.h"
#include "spec/model_spec.h"
#include "weights/weights.h"
#include "wing/training.h"

namespace soft {

struct TorchModel {
  Weights weights;  // fit the spec
  ModelSpec spec;
  int threads = 0;
  bool fused = true;  // false: the plain tensor expressions, for comparison
};

// One token's row of every head's attention matrix; stage, layer and token count from 0.
struct TorchRow {
  int stage = 0;
  int layer = 0;
  int64_t token = 0;  // on the stage's grid, row by row
  int layers = 1;     // this many, from `layer` on
};

// A model to be asked again and again. Pixels are normalised, [count, 3, size.h, size.w].
struct TorchAnswers {
  std::function<std::vector<float>(const float* pixels, int64_t count, Grid size)> logits;
  // Four [count, C, H, W].
  std::function<std::vector<Array>(const float* pixels, int64_t count, Grid size)> features;
  // [count, layers·heads, tokens]; a class token comes first.
  std::function<Array(const float* pixels, int64_t count, Grid size, const TorchRow& row)> row;
};

// One training step on the same batch of noise, again and again: forward, backward, clipping and
// AdamW.
struct TorchStep {
  ModelSpec spec;
  Grid size;  // of the pictures
  int64_t batch = 1;
  int threads = 0;
  bool fused = true;
};

// One mixing of given Q, K and V, again and again: what the mechanisms differ in, without the
// projections that they share.
struct TorchMix {
  AttentionSpec spec;
  Grid grid;
  int64_t batch = 1;
  int threads = 0;
  bool fused = true;
  bool backward = false;  // gradients of Q, K and V, too
};

// How Newton's steps approach the inverse in the layers that have one.
struct TorchTrace {
  TorchModel model;
  std::vector<float> pixels;  // normalised, [count, 3, size.h, size.w]
  int64_t count = 0;
  Grid size;
  Inverse mode = Inverse::kNewton;
  int steps = 20;
};

// Means over the layers, heads and pictures of a stage after 0, 1, … steps.
struct StageTrace {
  int stage = 0;  // counted from 1
  int64_t matrices = 0;
  std::vector<double> residual;  // |A V A - A| / |A|, spectral norms: the paper's Figure 4
  std::vector<double> worst;     // the largest residual among the matrices
  std::vector<double> distance;  // |V - A⁺| / |A⁺|, Frobenius norms, A⁺ the pseudo-inverse
};

// One entry per command that needs LibTorch. Errors leave as soft::Error.
struct TorchWing {
  TorchAnswers (*open)(const TorchModel&);
  // {"libtorch", "capability", "blas", "blas_library", "threads",
  //  "defects": [{"name", "found", "cured", "cure"}]}: text, and booleans for found and cured.
  Json (*doctor)(int threads);
  std::function<void()> (*step)(const TorchStep&);
  std::function<void()> (*mix)(const TorchMix&);
  std::vector<StageTrace> (*trace)(const TorchTrace&);
  TrainOutcome (*train)(const TrainRequest&, const TrainEvents&);
  std::vector<SettingRow> (*settings)(const TrainRequest&);
};

// Whether libsoft_torch.so stands beside the program or where it installs; opens nothing.
bool has_torch_wing();

// Opens libsoft_torch.so on first use; an Error says what to install or build when it is missing.
const TorchWing& torch_wing();

}  // namespace soft
