// An attention's mixing as ONNX operations: what src/attention computes with tensors, for the
// mechanisms that have no step which ONNX lacks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/grid.h"
#include "export/graph.h"
#include "spec/model_spec.h"

namespace soft {

// Empty when the mechanism can be exported; otherwise why not.
std::string export_obstacle(const AttentionSpec& spec);

struct ExportMix {
  AttentionSpec spec;
  Grid grid;
  int64_t prefix = 0;        // class tokens in front of the grid
  OnnxGraph::Value q, k, v;  // [N, h, n, d]; k is q where the mechanism shares them
  int64_t landmarks = 0;     // per head, where there are any
  OnnxGraph::Shape chosen;   // which tokens they are, where they are picked one by one
  std::function<OnnxGraph::Value(const std::string& name)> stored;  // the mechanism's own tensors

  int64_t tokens() const { return prefix + grid.size(); }
};

// For samplers that pick tokens one by one: which ones; empty for the others.
OnnxGraph::Shape picked_tokens(const ExportMix& mix);

OnnxGraph::Value export_mix(OnnxGraph& graph, const ExportMix& mix);  // -> [N, h, n, d]

// ---- What the mechanisms share

// Tokens of the grid as maps: [N, h, n, d] -> [N·h, d, H, W].
OnnxGraph::Value head_maps(OnnxGraph& graph, const ExportMix& mix, const OnnxGraph::Value& x);

// What each sampling window of x [N, h, n, d] holds: its mean, or with a kernel [d, d, r, r] its
// convolution -> [N, h, m, d].
OnnxGraph::Value window_tokens(OnnxGraph& graph, const ExportMix& mix, const OnnxGraph::Value& x,
                               const OnnxGraph::Value& kernel = "");

OnnxGraph::Value last_two_swapped(OnnxGraph& graph, const OnnxGraph::Value& x);  // of four axes
OnnxGraph::Value scaled_quarter(OnnxGraph& graph, const ExportMix& mix, const OnnxGraph::Value& x);

// ---- The mechanisms (mix_soft.cpp, mix_rivals.cpp)
OnnxGraph::Value export_soft(OnnxGraph& graph, const ExportMix& mix);
OnnxGraph::Value export_soft_dense(OnnxGraph& graph, const ExportMix& mix);
OnnxGraph::Value export_gaussian(OnnxGraph& graph, const ExportMix& mix);
OnnxGraph::Value export_softmax(OnnxGraph& graph, const ExportMix& mix);
OnnxGraph::Value export_linformer(OnnxGraph& graph, const ExportMix& mix);
OnnxGraph::Value export_performer(OnnxGraph& graph, const ExportMix& mix);
OnnxGraph::Value export_nystromformer(OnnxGraph& graph, const ExportMix& mix);

}  // namespace soft
