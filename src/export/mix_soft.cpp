// SOFT's mixing (Algorithms 1 and 2 of the paper) with Newton's steps unrolled. What happens to a
// matrix whose steps do not converge is not part of the graph.
#include <cmath>

#include "describe/operation.h"
#include "export/mix.h"
#include "kernels/soft_attention.h"

namespace soft {
namespace {

using Value = OnnxGraph::Value;

Value squared_length(OnnxGraph& graph, const Value& x) {  // [N, h, n, d] -> [N, h, n, 1]
  return graph.summed(graph.times(x, x), -1);
}

// exp(-|q - l|²/2): [N, h, n, d] and [N, h, m, d] -> [N, h, n, m]
// The logarithm of the kernel.
Value gaussian_exponent(OnnxGraph& graph, const Value& q, const Value& l) {
  const Value lengths =
      graph.add(squared_length(graph, q), last_two_swapped(graph, squared_length(graph, l)));
  const Value products = graph.product(q, last_two_swapped(graph, l));
  const Value distance = graph.subtract(lengths, graph.times(products, graph.scalar(2)));
  const Value clamped = graph.node("Relu", {distance});  // dips slightly below zero in float
  return graph.times(clamped, graph.scalar(-0.5f));
}

Value gaussian(OnnxGraph& graph, const Value& q, const Value& l) {
  return graph.node("Exp", {gaussian_exponent(graph, q, l)});
}

// The same of l with itself: symmetric, with a diagonal of ones.
Value gaussian_self(OnnxGraph& graph, const Value& l, int64_t m) {
  const Value a = gaussian(graph, l, l);
  const Value mean = graph.times(graph.add(a, last_two_swapped(graph, a)), graph.scalar(0.5f));
  const Value others = graph.node("Sub", {graph.scalar(1), graph.identity(m)});
  return graph.add(graph.times(mean, others), graph.identity(m));
}

Value normed_landmarks(OnnxGraph& graph, const ExportMix& mix, const Value& tokens) {
  const std::string norm(kLandmarkNormName);
  const Value normed =
      graph.layer_norm(tokens, mix.stored(norm + ".weight"), mix.stored(norm + ".bias"),
                       static_cast<float>(kLandmarkNormEpsilon));
  return graph.erf_gelu(normed);
}

// The paper's scale: LayerNorm undoes that of Q.
Value scaled_landmarks(OnnxGraph& graph, const ExportMix& mix, const Value& tokens) {
  return mix.spec.kernel_scale == KernelScale::kPaper ? scaled_quarter(graph, mix, tokens) : tokens;
}

Value landmarks(OnnxGraph& graph, const ExportMix& mix, const Value& q) {  // -> [N, h, m, d]
  switch (mix.spec.sampler) {
    case Sampler::kConv:
      return scaled_landmarks(
          graph, mix,
          normed_landmarks(graph, mix,
                           window_tokens(graph, mix, q, mix.stored(std::string(kLandmarkName)))));
    case Sampler::kAvg:
      return window_tokens(graph, mix, q);
    case Sampler::kRandom:
    case Sampler::kBiased:
      return graph.node("Gather", {q, graph.integers(mix.chosen)}, {{"axis", int64_t{2}}});
  }
  return "";
}

Value largest_sum(OnnxGraph& graph, const Value& a) {  // |A|₁ of a symmetric A >= 0: [N, h, 1, 1]
  return graph.largest(graph.summed(a, -1), -2);
}

Value alpha_over_square(OnnxGraph& graph, float factor, const Value& norm) {
  return graph.divided(graph.scalar(factor), graph.times(norm, norm));
}

// 1.8 / |A|₁², halved (ten times at most) until |I - αAA|₁ <= 1.01.
Value adaptive_alpha(OnnxGraph& graph, const Value& a, int64_t m) {
  Value alpha = alpha_over_square(graph, 1.8f, largest_sum(graph, a));
  const Value square = graph.product(a, a);
  for (int halvings = 0; halvings < 10; ++halvings) {
    const Value rest = graph.subtract(graph.identity(m), graph.times(alpha, square));
    const Value norm = largest_sum(graph, graph.node("Abs", {rest}));
    const Value too_large = graph.node("Greater", {norm, graph.scalar(1.01f)});
    alpha = graph.node("Where", {too_large, graph.times(alpha, graph.scalar(0.5f)), alpha});
  }
  return alpha;
}

// V <- 2V - VPV. Without a regularised P the iterates are kept symmetric: round-off outside A's
// range would otherwise double at each step.
Value newton(OnnxGraph& graph, const ExportMix& mix, const Value& a, int64_t m) {
  const AttentionSpec& spec = mix.spec;
  const bool regularised = spec.inverse == Inverse::kNewton;
  Value p = a, alpha;
  if (regularised) {
    const Value ridge =
        graph.times(graph.identity(m), graph.scalar(static_cast<float>(spec.epsilon)));
    p = graph.add(a, ridge);
    alpha = alpha_over_square(graph, 1.8f, largest_sum(graph, a));
  } else if (spec.inverse == Inverse::kNewtonAdaptive) {
    alpha = adaptive_alpha(graph, a, m);
  } else {
    alpha = alpha_over_square(graph, 2.0f, largest_sum(graph, a));
  }
  Value v = graph.times(alpha, p);
  for (int step = 0; step < spec.newton_steps; ++step) {
    const Value vpv = graph.product(graph.product(v, p), v);
    v = graph.subtract(graph.add(v, v), vpv);
    if (regularised) continue;
    v = graph.times(graph.add(v, last_two_swapped(graph, v)), graph.scalar(0.5f));
  }
  return v;
}

// As in src/attention/soft.cpp.
struct Kernels {
  Value left, right;  // K1 [N, h, n, m]
  Value core;         // inv(A) [N, h, m, m]
};

Value applied(OnnxGraph& graph, const Kernels& kernels, const Value& v) {
  const Value gathered = graph.product(last_two_swapped(graph, kernels.right), v);  // [N, h, m, d]
  return graph.product(kernels.left, graph.product(kernels.core, gathered));
}

// The guarded sums of S's rows (src/attention/soft.cpp): [N, h, n, 1].
Value guarded_sums(OnnxGraph& graph, const Kernels& kernels) {
  const Value columns = graph.summed(last_two_swapped(graph, kernels.right), -1);  // [N, h, m, 1]
  const Value spread = graph.product(kernels.core, columns);
  const Value sum = graph.product(kernels.left, spread);
  const Value reach =
      graph.times(graph.summed(kernels.left, -1), graph.scalar(static_cast<float>(kCancelled)));
  const Value square = graph.summed(graph.times(spread, spread), -2);
  const Value total =
      graph.add(graph.times(sum, sum), graph.times(graph.times(reach, reach), square));
  const auto floor = static_cast<float>(kVanished * kVanished);
  return graph.node("Sqrt", {graph.add(total, graph.scalar(floor))});
}

Value normalised(OnnxGraph& graph, const ExportMix& mix, const Kernels& kernels) {
  switch (normalisation_of(mix.spec)) {
    case Normalise::kNone:
    case Normalise::kCore:
      break;
    case Normalise::kRows:
      return graph.divided(applied(graph, kernels, mix.v), guarded_sums(graph, kernels));
    case Normalise::kMean:
      return graph.divided(applied(graph, kernels, mix.v),
                           graph.scalar(static_cast<float>(mix.tokens())));
  }
  return applied(graph, kernels, mix.v);
}

}  // namespace

Value export_soft(OnnxGraph& graph, const ExportMix& mix) {
  const Value q = scaled_quarter(graph, mix, mix.q);
  const Value l = landmarks(graph, mix, q);
  const int64_t m = mix.landmarks;
  const Value exponent = gaussian_exponent(graph, q, l);  // of K1 [N, h, n, m]
  const Value core = gaussian_self(graph, l, m);          // A [N, h, m, m]
  Kernels kernels{"", "", newton(graph, mix, core, m)};
  if (normalisation_of(mix.spec) == Normalise::kRows) {
    const Value peaks = graph.largest(exponent, -1);
    kernels.left = graph.node("Exp", {graph.subtract(exponent, peaks)});
    kernels.right = graph.node("Exp", {graph.subtract(exponent, graph.largest(peaks, -2))});
  } else {
    kernels.left = kernels.right = graph.node("Exp", {exponent});
  }
  if (normalisation_of(mix.spec) == Normalise::kCore) {
    const Value root = graph.node("Sqrt", {graph.summed(core, -1)});  // D^1/2 [N, h, m, 1]
    kernels.core = graph.divided(graph.divided(kernels.core, root), last_two_swapped(graph, root));
  }
  return normalised(graph, mix, kernels);
}

Value export_soft_dense(OnnxGraph& graph, const ExportMix& mix) {
  const Value q = scaled_quarter(graph, mix, mix.q);
  const Value projected =
      graph.product(q, graph.node("Transpose", {mix.stored(std::string(kLandmarkName))}));
  const Value l = normed_landmarks(graph, mix, projected);
  return graph.product(gaussian_self(graph, l, mix.tokens()), mix.v);
}

Value export_gaussian(OnnxGraph& graph, const ExportMix& mix) {
  const Value kernel = gaussian_self(graph, scaled_quarter(graph, mix, mix.q), mix.tokens());
  const bool softmax = mix.spec.mechanism == Mechanism::kGaussianSoftmax;
  return graph.product(softmax ? graph.softmax(kernel) : kernel, mix.v);
}

}  // namespace soft
