// The encoder of the Long Range Arena under the names that its files have.
#include "describe/sequence.h"

#include <fmt/format.h>

#include "describe/builder.h"
#include "describe/layer.h"

namespace soft {
namespace {

constexpr double kLastNormEpsilon = 1e-5;

int embed(Builder& net, const SequenceSpec& spec, int64_t length) {
  net.at({0, -1});
  int x = net.lookup(length, "words", {spec.vocabulary, spec.frame.stages.at(0).dim});
  x = net.order(x, "places", spec.length);
  if (spec.class_token) x = net.class_token(x, "class_token", true);
  return net.dropout(x, spec.dropout);
}

}  // namespace

Description describe(const SequenceSpec& spec, int64_t length) {
  Builder net;
  net.start_with(Start::kUniform, Start::kUniform, Start::kUniform);
  net.repeated(spec.sides);
  LayerShape shape{attention_of(spec), spec.hidden, {length, 1}, spec.class_token ? 1 : 0};
  shape.dropout = spec.dropout;
  const int depth = spec.frame.stages.at(0).depth;
  int x = embed(net, spec, length);
  for (int layer = 0; layer < depth; ++layer) {
    net.at({0, layer});
    x = add_layer(net, x, shape, fmt::format("block{}.", layer));
  }
  net.at({});
  x = net.layer_norm(x, "norm", kLastNormEpsilon);
  net.end_stage({shape.grid, shape.prefix, depth, x});
  x = net.pool(x, {spec.class_token, spec.length});
  net.repeated(1);
  if (spec.sides == 2) x = net.pair(x);
  net.linear(net.activate(net.linear(x, "head1", spec.hidden), Curve::kRelu), "head2",
             spec.frame.classes);
  return net.take();
}

}  // namespace soft
