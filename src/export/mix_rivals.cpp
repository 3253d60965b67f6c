// The mixing of the mechanisms that SOFT is compared with.
#include <cmath>

#include "describe/operation.h"
#include "export/mix.h"

namespace soft {
namespace {

using Value = OnnxGraph::Value;

// softmax(q k' / sqrt d) v
Value softmax_over(OnnxGraph& graph, const ExportMix& mix, const Value& k, const Value& v) {
  const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(mix.spec.head_dim())));
  const Value q = graph.times(mix.q, graph.scalar(scale));
  return graph.product(graph.softmax(graph.product(q, last_two_swapped(graph, k))), v);
}

// φ without its factor 1/sqrt(r), which cancels: exp(ω x^ - |x^|²/2 - c) + 1e-4, c the largest
// exponent of a query, or of all keys of a head.
Value features(OnnxGraph& graph, const ExportMix& mix, const Value& x, bool over_keys) {
  const Value unit = scaled_quarter(graph, mix, x);
  const Value omega = graph.node("Transpose", {mix.stored(std::string(kFeaturesName))});  // [d, r]
  const Value exponent = graph.product(unit, omega);  // [N, h, n, r]
  Value largest = graph.largest(exponent, -1);
  if (over_keys) largest = graph.largest(largest, -2);
  const Value half = graph.times(graph.summed(graph.times(unit, unit), -1), graph.scalar(0.5f));
  const Value shifted = graph.subtract(exponent, graph.add(half, largest));
  return graph.add(graph.node("Exp", {shifted}), graph.scalar(1e-4f));
}

// A⁺ in six steps: Z <- Z (13 I - AZ (15 I - AZ (7 I - AZ))) / 4, Z0 = A' / (|A|₁ |A|∞).
Value pseudo_inverse(OnnxGraph& graph, const Value& a, int64_t m) {
  const auto times_identity = [&](float factor) {
    return graph.times(graph.identity(m), graph.scalar(factor));
  };
  const Value columns = graph.largest(graph.summed(a, -2), -1);
  const Value rows = graph.largest(graph.summed(a, -1), -2);
  Value z = graph.divided(last_two_swapped(graph, a), graph.times(columns, rows));
  for (int step = 0; step < 6; ++step) {
    const Value az = graph.product(a, z);
    Value inner = graph.subtract(times_identity(7), az);
    inner = graph.subtract(times_identity(15), graph.product(az, inner));
    inner = graph.subtract(times_identity(13), graph.product(az, inner));
    z = graph.times(graph.product(z, inner), graph.scalar(0.25f));
  }
  return z;
}

}  // namespace

Value export_softmax(OnnxGraph& graph, const ExportMix& mix) {
  return softmax_over(graph, mix, mix.k, mix.v);
}

Value export_linformer(OnnxGraph& graph, const ExportMix& mix) {
  const Value kernel = mix.stored(std::string(kProjectionName));
  const auto shortened = [&](const Value& x) {
    const Value windows = window_tokens(graph, mix, x, kernel);
    if (mix.prefix == 0) return windows;
    return graph.joined({graph.sliced(x, 2, 0, mix.prefix), windows}, 2);
  };
  return softmax_over(graph, mix, shortened(mix.k), shortened(mix.v));
}

Value export_performer(OnnxGraph& graph, const ExportMix& mix) {
  const Value q = features(graph, mix, mix.q, false), k = features(graph, mix, mix.k, true);
  const Value turned = last_two_swapped(graph, k);                  // [N, h, r, n]
  const Value weight = graph.product(q, graph.summed(turned, -1));  // [N, h, n, 1]
  return graph.divided(graph.product(q, graph.product(turned, mix.v)), weight);
}

Value export_nystromformer(OnnxGraph& graph, const ExportMix& mix) {
  const Value q = scaled_quarter(graph, mix, mix.q), k = scaled_quarter(graph, mix, mix.k);
  const Value query_marks = window_tokens(graph, mix, q);
  const Value key_marks = last_two_swapped(graph, window_tokens(graph, mix, k));  // [N, h, d, m]
  const Value spread = graph.softmax(graph.product(q, key_marks));
  const Value core = graph.softmax(graph.product(query_marks, key_marks));
  const Value gather = graph.softmax(graph.product(query_marks, last_two_swapped(graph, k)));
  const Value inverse = pseudo_inverse(graph, core, mix.landmarks);
  return graph.product(spread, graph.product(inverse, graph.product(gather, mix.v)));
}

}  // namespace soft
