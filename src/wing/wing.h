// The door between the light side and LibTorch. Plain structs in and out; the torch wing is a
// shared library that is opened when a command first needs it, since merely linking LibTorch costs
// most of a second.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "engine/question.h"
#include "rank/place.h"
#include "spec/model_spec.h"
#include "weights/weights.h"
#include "wing/health.h"
#include "wing/sequence.h"
#include "wing/training.h"

namespace soft {

struct TorchModel {
  Weights weights;  // fit the spec
  ModelSpec spec;
  int threads = 0;
  bool fused = true;  // false: the plain tensor expressions, for comparison
};

// What the attention of a model does with pictures.
struct HealthAnswers {
  std::function<std::vector<HeadHealth>(const ImageBatch& images)> heads;
  // Logits [count, classes] of the model without these parts.
  std::function<std::vector<float>(const ImageBatch& images, const Silence& parts)> logits_without;
};

// One training step on the same batch of noise, again and again: forward, backward, clipping and
// AdamW.
struct TorchStep {
  ModelSpec spec;
  Grid size;  // of the pictures
  int64_t batch = 1;
  int threads = 0;
  bool fused = true;
  bool recompute = false;  // layers keep their inputs alone
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

// Sums over the ranks that the environment names, of so many bytes each, and what a training step
// of a model takes beside them.
struct TorchExchange {
  RankPlace place;
  double timeout = 60;         // seconds
  std::vector<int64_t> bytes;  // of the tensors to be added up
  int repeat = 5;
  std::optional<TorchStep> step;  // also train these ranks, with the exchange and without
  int64_t bucket_mb = 25;
  bool half = false;  // gradients travel as float16
};

struct ExchangeResult {
  std::vector<double> seconds;             // median, for each number of bytes
  double step_alone = 0, step_shared = 0;  // a step without an exchange, and with one
  double waited = 0;                       // of step_shared, for others
  double exchange = 0;                     // of all gradients, with nothing else to do
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
  Answers (*open)(const TorchModel&);
  // {"libtorch", "capability", "blas", "blas_library", "threads",
  //  "defects": [{"name", "found", "cured", "cure"}]}: text, and booleans for found and cured.
  Json (*doctor)(int threads);
  std::function<void()> (*step)(const TorchStep&);
  std::function<void()> (*mix)(const TorchMix&);
  std::vector<StageTrace> (*trace)(const TorchTrace&);
  TrainOutcome (*train)(const TrainRequest&, const TrainEvents&);
  std::vector<SettingRow> (*settings)(const TrainRequest&);
  SequenceOutcome (*train_sequences)(const SequenceTrainRequest&, const SequenceEvents&);
  SequenceAnswers (*open_sequences)(const Weights&, int threads);
  ExchangeResult (*exchange)(const TorchExchange&);
  HealthAnswers (*examine)(const TorchModel&);
};

// Whether libsoft_torch.so stands beside the library that this is in; opens nothing.
bool has_torch_wing();

// Opens libsoft_torch.so on first use; an Error says what to install or build when it is missing,
// or was not made together with this library (wing/stamp.h).
const TorchWing& torch_wing();

}  // namespace soft
