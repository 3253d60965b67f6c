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
#include "wing/training.h"

namespace soft {

struct TorchModel {
  std::string weights;  // .safetensors or .pth; empty: random initialisation from `seed`
  uint64_t seed = 0;
  ModelSpec spec;           // as stored in, or inferred from, the weights file, settings applied
  std::string weights_key;  // .pth: which dictionary; empty takes the EMA where there is one
  int threads = 0;
};

struct TorchForward : TorchModel {
  Array input;  // [N, 3, H, W], normalised
  bool features = false;
};

// Normalised pixels [count, 3, size.h, size.w] -> logits [count, classes].
using TorchLogits =
    std::function<std::vector<float>(const float* pixels, int64_t count, Grid size)>;

struct TorchForwardResult {
  Array logits;                 // [N, classes]
  std::vector<Array> features;  // four [N, C, H, W], when asked for
};

// One entry per command that needs LibTorch. Errors leave as soft::Error.
struct TorchWing {
  TorchForwardResult (*forward)(const TorchForward&);
  TorchLogits (*open)(const TorchModel&);  // a model to be asked again and again
  // {"libtorch", "capability", "blas", "blas_library", "threads",
  //  "defects": [{"name", "found", "cured", "cure"}]}: text, and booleans for found and cured.
  Json (*doctor)(int threads);
  TrainOutcome (*train)(const TrainRequest&, const TrainEvents&);
};

// Whether libsoft_torch.so stands beside the program or where it installs; opens nothing.
bool has_torch_wing();

// Opens libsoft_torch.so on first use; an Error says what to install or build when it is missing.
const TorchWing& torch_wing();

}  // namespace soft
