// RegNetY (Radosavovic et al., 2020) under timm's names: bottlenecks of ratio 1 with grouped
// convolutions and squeeze-and-excitation, every stage halving the map.
#include <fmt/format.h>

#include <cmath>

#include "describe/zoo/parts.h"
#include "describe/zoo/zoo.h"

namespace soft::zoo {
namespace {

struct RegBlock {
  int64_t width, group_width, stride;
};

int unit_of(Builder& net, int x, const std::string& name, const Unit& shape) {
  return unit(net, x, name + ".conv", name + ".bn", shape);
}

int reg_block(Builder& net, int x, const std::string& name, const RegBlock& shape,
              const op::Residual& residual) {
  const int64_t in = net.shape(x)[0], w = shape.width;
  int y = unit_of(net, x, name + "conv1", {w});
  y = unit_of(net, y, name + "conv2", {w, 3, shape.stride, w / shape.group_width});
  y = squeeze_excite(net, y, name + "se.", std::lround(0.25 * static_cast<double>(in)),
                     Curve::kRelu);
  y = unit_of(net, y, name + "conv3", {w, 1, 1, 1, Curve::kNone});
  const bool same = shape.stride == 1 && in == w;
  const int kept =
      same ? x : unit_of(net, x, name + "downsample", {w, 1, shape.stride, 1, Curve::kNone});
  return net.activate(net.residual(kept, y, residual), Curve::kRelu);
}

}  // namespace

Description describe_regnet(const ModelSpec& spec, Grid image) {
  Builder net;
  const auto& widths = spec.list("widths");
  const auto& depths = spec.list("depths");
  Ramp ramp(depths);
  net.at({0, -1});
  net.start_with(Start::kFanOut, Start::kUniform);
  int x = unit_of(net, net.pixels(image), "stem", {spec.number("stem"), 3, 2});
  for (int s = 0; s < static_cast<int>(depths.size()); ++s) {
    for (int i = 0; i < depths[s]; ++i) {
      net.at({s, i});
      const RegBlock shape{widths[s], spec.number("group_width"), i == 0 ? 2 : 1};
      x = reg_block(net, x, fmt::format("s{}.b{}.", s + 1, i + 1), shape, ramp.next());
    }
    net.end_stage({net.grid(x), 0, depths[s], x});
  }
  net.at({});
  mean_head(net, x, "head.fc", spec.classes);
  return net.take();
}

}  // namespace soft::zoo
