// What the parts of a model do: one small struct per operation. Shapes leave the batch out: a map
// is [C, H, W], tokens are [n, C] with class tokens first and then the grid row by row, a vector is
// [C]. A batch of sequences is [1, T, C]: all their tokens, one sequence behind the other, without
// padding.
//
// To add an operation: a struct here, in `Operation` and in name_of; a function of Builder
// (describe/builder.h) that says its tensors, shape and cost; and its code in each engine that is
// to run it (src/model/run.cpp for LibTorch). Engines without it refuse by its name.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "base/grid.h"
#include "spec/model_spec.h"

namespace soft {

enum class Curve { kNone, kRelu, kTanhGelu, kErfGelu, kSilu, kSigmoid };
enum class How { kPlus, kMinus, kTimes };

namespace op {

// The picture: no input -> [3, H, W].
struct Pixels {};

// Map -> map. Tensors: weight [out, in / groups, k, k], bias [out] where there is one; with batch
// norm also its weight, bias, running_mean and running_var, each [out].
struct Convolution {
  int64_t in = 0;
  int64_t out = 0;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t groups = 1;
  bool shared = false;  // one kernel [out / groups, in / groups, …] for all groups
  bool bias = true;
  bool batch_norm = false;  // with kBatchNormEpsilon and kBatchNormMomentum
  Curve after = Curve::kNone;
};

// Over the last axis. Tensors: weight [out, in], bias [out] where there is one.
struct Linear {
  int64_t in = 0;
  int64_t out = 0;
  bool bias = true;
};

// Over the last axis. Tensors: weight [C], bias [C].
struct LayerNorm {
  int64_t dim = 0;
  double epsilon = 1e-5;
};

// Map [C, H, W] -> tokens [H·W, C].
struct Flatten {};

// Tokens [prefix + H·W, C] -> map [C, H, W]; class tokens are left out.
struct Unflatten {
  Grid grid;
  int64_t prefix = 0;
};

// Puts a learnt token in front. Tensor [1, 1, C], of sequences [C].
struct ClassToken {};

// Adds a vector to every token. Tensor [1, prefix + made_for, C], resized (corners not aligned)
// where the grid is another; the class tokens' own vectors are not.
struct Position {
  Grid made_for;
  Grid grid;
  int64_t prefix = 0;
  bool cubic = false;  // resized bicubically; otherwise bilinearly
  bool fixed = false;  // sines and cosines, not trained
};

// A piece of one axis.
struct Slice {
  int64_t axis = 0;  // batch aside
  int64_t begin = 0;
  int64_t length = 0;
};

// Everything between the projections and the output projection: heads are split, the mechanism
// mixes V given Q and K, the value path is added, heads are merged. Inputs Q, K, V, each [n, C]; K
// is the same part as Q where the mechanism shares them. Tensors: what the mechanism has of k…Name
// below, all under the part's own name.
struct Mix {
  AttentionSpec spec;
  Grid grid;  // w = 1 for sequences
  int64_t prefix = 0;
  double dropout = 0;  // of attention weights in training, where the mechanism has a softmax
};

// Element by element.
struct Activate {
  Curve curve = Curve::kRelu;
};

// Inputs x and a branch -> x + branch. In training the branch is dropped at random with the run's
// rate times `depth`: whole samples, or single elements unless the run wants whole samples.
struct Residual {
  double depth = 0;  // 0 in the first layer … 1 in the last
  bool drops_samples = false;
};

// Tokens [n, C] -> [C]: the first one (a class token), or the mean of all.
struct Pool {
  bool first = false;
  int64_t divisor = 0;  // of the mean, where it is not the number of tokens
};

// ---- Sequences.

// The sequence: no input -> [n, C], the table's row for every id. Tensor [vocabulary, C]; 0 is
// padding, or within a sequence a token that is not there.
struct Lookup {
  int64_t vocabulary = 0;
};

// Adds row i to the i-th token of every sequence. Tensor [rows, C].
struct Order {};

// Drops single elements in training, scaled so that their expectation stays.
struct Dropout {
  double rate = 0;
};

// A pair's vectors a and b [C] -> [4·C]: a, b, a·b, a - b. A batch holds first all a, then all b.
struct Pair {};

// ---- What other families are made of. Values that do not come from a picture (Stored, Constant)
// are the same for every sample of a batch.

// Map -> map with kBatchNormEpsilon. Tensors weight, bias, running_mean and running_var, each [C].
struct BatchNorm {
  Curve after = Curve::kNone;
};

// Map -> map: the largest of each window, or its mean with the padding's zeros counted.
struct WindowPool {
  bool largest = true;
  int64_t kernel = 2;
  int64_t stride = 2;
  int64_t padding = 0;
};

// Map -> [C, 1, 1].
struct GlobalMean {};

// Two values, element by element; axes of length 1 are repeated.
struct Combine {
  How how = How::kPlus;
};

// A tensor itself; or some of its rows, linearly resized to `resized` rows beforehand.
struct Stored {
  std::vector<int64_t> rows;
  int64_t resized = 0;
};

struct Constant {
  std::vector<float> values;
};

struct Reshape {};

struct Permute {
  std::vector<int64_t> axes;
};

// Values one after the other along an axis; what is the same for every sample is repeated.
struct Join {
  int64_t axis = 0;
};

// Map -> map with zeros around it, or with its own cells reflected at the edge.
struct Pad {
  int64_t top = 0, left = 0, bottom = 0, right = 0;
  bool reflect = false;
};

// Map [C, H, W] -> the windows around n cells [C·k², n], channels first, then rows and columns.
struct Unfold {
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t padding = 0;
};

// Matrix products over the last two axes, times `scale`; the second may be transposed.
struct Product {
  bool transposed = false;
  double scale = 1;
};

struct Softmax {
  int64_t axis = -1;  // batch aside; negative ones count from the end
};

// Sum or mean along an axis, which stays with length 1.
struct Reduce {
  int64_t axis = 0;
  bool mean = false;
};

}  // namespace op

using Operation =
    std::variant<op::Pixels, op::Convolution, op::Linear, op::LayerNorm, op::Flatten, op::Unflatten,
                 op::ClassToken, op::Position, op::Slice, op::Mix, op::Activate, op::Residual,
                 op::Pool, op::BatchNorm, op::WindowPool, op::GlobalMean, op::Combine, op::Stored,
                 op::Constant, op::Reshape, op::Permute, op::Join, op::Pad, op::Unfold, op::Product,
                 op::Softmax, op::Reduce, op::Lookup, op::Order, op::Dropout, op::Pair>;

std::string_view name_of(const Operation& operation);  // "convolution", "layer norm", …

constexpr double kBatchNormEpsilon = 1e-5;
constexpr double kBatchNormMomentum = 0.1;
constexpr double kLandmarkNormEpsilon = 1e-5;

// What a Mix may have, behind "its name.". kFeaturesName ("omega", spec/model_spec.h) is
// performer's.
constexpr std::string_view kLandmarkName =
    "Qlandmark_op.weight";                                     // [d, d, r, r], [d, d, r], [d, d]
constexpr std::string_view kLandmarkNormName = "Qnorm_act.0";  // .weight and .bias, [d]
constexpr std::string_view kProjectionName = "E";              // linformer's
constexpr std::string_view kValueKernelName = "conv.weight";   // [h, 1, k, k], [h, 1, k]

}  // namespace soft
