// The one description of a model: from a spec and an input size follows a flat list of parts, in an
// order in which they can run. Everything else reads it: counts are sums over it, the weights file
// holds its tensors, the torch model and the engine's packing are made from it, export walks it.
//
//   const Description model = describe(find_model("soft-tiny"), {224, 224});
//   for (const Part& part : model.parts) …   // part.inputs are indices of earlier parts
//
// Another input size changes shapes and costs; number, order, names and tensors of the parts stay.
#pragma once

#include <string>
#include <vector>

#include "describe/operation.h"

namespace soft {

// Where a part stands: stage and layer count from 0. layer = -1: in front of a stage's layers
// (embedding, positions, class token); stage = -1: behind all of them (last norm, pooling, head).
struct Place {
  int stage = -1;
  int layer = -1;

  friend bool operator==(const Place& a, const Place& b) {
    return a.stage == b.stage && a.layer == b.layer;
  }
};

enum class TensorKind {
  kTrained,
  kStatistic,  // gathered in training: BN's running mean and variance
  kDrawn,      // drawn at random and kept: performer's features. Has no average
  kFixed,      // stored and counted, but not trained: sinusoidal positions
};

// What a new model holds before training.
enum class Start {
  kZeros,
  kOnes,
  kUniform,     // ±1/sqrt(inputs), as LibTorch's convolutions
  kNormal,      // N(0, 0.02), drawn when all else is
  kGaussian,    // N(0, 0.02), drawn in its turn
  kOrthogonal,  // rows of orthogonal Gaussians
  kFanOut,      // N(0, sqrt(2 / outputs)), as ResNet's convolutions
  kTiny,        // 1e-6
  kWaves,       // sines and cosines of the row's number
};

struct TensorShape {
  std::string name;  // published
  std::vector<int64_t> shape;
  TensorKind kind = TensorKind::kTrained;
  Start start = Start::kZeros;
  bool decays = true;  // weight decay applies unless a recipe says otherwise
  Place place{};

  bool trained() const { return kind == TensorKind::kTrained; }
  int64_t elements() const;
};

// Settings that are each within their range may together need more than 64 bits.
using Wide = __int128;

// MACs count convolutions, linears, the landmark sampler, the value path and the attention products
// in the order in which they are computed (right to left); not norms, activations or exp.
struct PartCost {
  Wide macs = 0;
  Wide inverse_macs = 0;  // of the iterative inverse alone
  Wide floats = 0;        // alive at once while it runs; counted inside layers only
};

struct Part {
  Operation operation;
  std::string name{};            // of its tensors, without ".weight"; "" for parts that have none
  std::vector<int> inputs{};     // earlier parts
  std::vector<int> tensors{};    // of Description::tensors, in the order that operation.h says
  std::vector<int64_t> shape{};  // of its output, batch aside
  Place place{};
  PartCost cost{};

  template <class Op>
  const Op* as() const {
    return std::get_if<Op>(&operation);
  }
};

struct StageOutline {
  Grid grid;           // tokens, class tokens aside
  int64_t prefix = 0;  // class tokens
  int depth = 0;       // layers
  int features = 0;  // the part whose tokens are the stage's answer; the last one's after the norm
};

struct Description {
  std::vector<Part> parts;           // each behind its inputs; the last one gives the logits
  std::vector<TensorShape> tensors;  // each once, in file order
  std::vector<StageOutline> stages;

  const Part& head() const { return parts.back(); }  // a Linear; its input is the embedding
  // The tensor of this part with this name behind the part's own; nullptr when it has none.
  const TensorShape* find(const Part& part, std::string_view name) const;
};

// The model of a valid spec on pictures of this size.
Description describe(const ModelSpec& spec, Grid image);

// Every tensor that a model of this spec has, in file order.
std::vector<TensorShape> tensors_of(const ModelSpec& spec);

// What a mechanism itself learns or draws, and its value path; `prefix` ends in a dot or is empty.
std::vector<TensorShape> mix_tensors(const AttentionSpec& attention, const std::string& prefix);

}  // namespace soft
