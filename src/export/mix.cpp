#include "export/mix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/permutation.h"

namespace soft {

using Value = OnnxGraph::Value;

std::string export_obstacle(const AttentionSpec& spec) {
  switch (spec.mechanism) {
    case Mechanism::kSoft:
    case Mechanism::kSoftNorm:
      if (spec.inverse != Inverse::kExact) break;
      return "inverse=exact factorises matrices, which ONNX has no operation for; export with "
             "--set inverse=newton";
    case Mechanism::kReformer:
      return "attention=reformer sorts tokens by random hashes, which ONNX cannot draw as it does";
    case Mechanism::kNone:
    case Mechanism::kSoftDense:
    case Mechanism::kSoftmax:
    case Mechanism::kGaussian:
    case Mechanism::kGaussianSoftmax:
    case Mechanism::kLinformer:
    case Mechanism::kPerformer:
    case Mechanism::kNystromformer:
      break;
  }
  return "";
}

OnnxGraph::Shape picked_tokens(const ExportMix& mix) {
  const bool random = mix.spec.sampler == Sampler::kRandom;
  if (!uses_landmarks(mix.spec.mechanism) || (!random && mix.spec.sampler != Sampler::kBiased)) {
    return {};
  }
  OnnxGraph::Shape chosen(mix.landmarks);
  std::iota(chosen.begin(), chosen.end(), 0);
  if (random) {
    const auto order = permutation(mix.grid.size(), kEvaluationDraw);
    std::copy_n(order.begin(), chosen.size(), chosen.begin());
  }
  for (int64_t& token : chosen) token += mix.prefix;
  return chosen;
}

Value last_two_swapped(OnnxGraph& graph, const Value& x) {
  return graph.transposed(x, {0, 1, 3, 2});
}

Value scaled_quarter(OnnxGraph& graph, const ExportMix& mix, const Value& x) {
  return graph.times(x, graph.scalar(static_cast<float>(std::pow(mix.spec.head_dim(), -0.25))));
}

Value head_maps(OnnxGraph& graph, const ExportMix& mix, const Value& x) {
  const Value on_grid = mix.prefix == 0 ? x : graph.sliced(x, 2, mix.prefix, mix.tokens());
  const Value channels = last_two_swapped(graph, on_grid);  // [N, h, d, n]
  return graph.reshaped(channels, {-1, mix.spec.head_dim(), mix.grid.h, mix.grid.w});
}

namespace {

struct Maps {
  Value cells;  // [N·h, d, H, W]
  Grid grid;
};

// The mean of rows begin(i)…end(i) for every i, as a matrix [out, in]: adaptive average pooling.
std::vector<float> pooling_matrix(int64_t in, int64_t out) {
  std::vector<float> matrix(out * in);
  for (int64_t i = 0; i < out; ++i) {
    const int64_t begin = i * in / out, end = ((i + 1) * in + out - 1) / out;
    for (int64_t j = begin; j < end; ++j) {
      matrix[i * in + j] = 1.0f / static_cast<float>(end - begin);
    }
  }
  return matrix;
}

Value pooling(OnnxGraph& graph, int64_t in, int64_t out) {
  return graph.tensor(graph.fresh("pooling"), pooling_matrix(in, out), {out, in});
}

// Pools to side x side, as two products: ONNX has no adaptive pooling.
Maps adaptively_pooled(OnnxGraph& graph, const Maps& maps, int64_t side) {
  if (maps.grid == Grid{side, side}) return maps;
  const Value rows = graph.product(pooling(graph, maps.grid.h, side), maps.cells);
  const Value columns = graph.tensor(graph.fresh("pooling"),
                                     [&] {
                                       const std::vector<float> matrix =
                                           pooling_matrix(maps.grid.w, side);
                                       std::vector<float> turned(matrix.size());  // [in, out]
                                       for (int64_t o = 0; o < side; ++o) {
                                         for (int64_t i = 0; i < maps.grid.w; ++i)
                                           turned[i * side + o] = matrix[o * maps.grid.w + i];
                                       }
                                       return turned;
                                     }(),
                                     {maps.grid.w, side});
  return {graph.product(rows, columns), {side, side}};
}

}  // namespace

Value window_tokens(OnnxGraph& graph, const ExportMix& mix, const Value& x, const Value& kernel) {
  const int64_t r = mix.spec.ratio, d = mix.spec.head_dim();
  Maps maps{head_maps(graph, mix, x), mix.grid};
  if (mix.spec.landmarks > 0) {
    const auto side = static_cast<int64_t>(std::lround(std::sqrt(mix.spec.landmarks)));
    maps = adaptively_pooled(graph, maps, side * r);
  }
  const OnnxGraph::Settings windows{{"kernel_shape", OnnxGraph::Shape{r, r}},
                                    {"strides", OnnxGraph::Shape{r, r}}};
  const Value cells = kernel.empty() ? graph.node("AveragePool", {maps.cells}, windows)
                                     : graph.node("Conv", {maps.cells, kernel}, windows);
  const int64_t m = (maps.grid.h / r) * (maps.grid.w / r);
  return last_two_swapped(graph, graph.reshaped(cells, {-1, mix.spec.heads, d, m}));
}

// No default: the compiler names the mechanism that was forgotten.
Value export_mix(OnnxGraph& graph, const ExportMix& mix) {
  switch (mix.spec.mechanism) {
    case Mechanism::kSoft:
    case Mechanism::kSoftNorm:
      return export_soft(graph, mix);
    case Mechanism::kSoftDense:
      return export_soft_dense(graph, mix);
    case Mechanism::kSoftmax:
      return export_softmax(graph, mix);
    case Mechanism::kGaussian:
    case Mechanism::kGaussianSoftmax:
      return export_gaussian(graph, mix);
    case Mechanism::kLinformer:
      return export_linformer(graph, mix);
    case Mechanism::kPerformer:
      return export_performer(graph, mix);
    case Mechanism::kNystromformer:
      return export_nystromformer(graph, mix);
    case Mechanism::kNone:
      return graph.times(mix.v, graph.scalar(0));
    case Mechanism::kReformer:
      break;
  }
  fail_usage("{}", export_obstacle(mix.spec));
}

}  // namespace soft
