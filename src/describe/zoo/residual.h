// The frame of ResNet and its descendants: a stem, and stages of blocks x <- curve(shortcut(x) +
// branch(x)) whose first one halves the map from the second stage on.
#pragma once

#include <string>

#include "describe/zoo/parts.h"

namespace soft::zoo {

constexpr int64_t kExpansion = 4;  // of a bottleneck's planes

// conv 7x7 with stride 2, norm, curve, 3x3 maximum with stride 2.
int residual_stem(Builder& net, Grid image, int64_t dim, Curve curve);

// x itself, or a 1x1 convolution where stride or channels change.
int shortcut(Builder& net, int x, const std::string& name, int64_t out, int64_t stride);

// One stage; `branch(net, x, name, planes, stride)` ends in expansion · planes channels.
struct ResidualStage {
  int index = 0;  // from 0
  int64_t planes = 0;
  int64_t expansion = kExpansion;
  int depth = 1;
  Curve curve = Curve::kRelu;
};
template <class Branch>
int residual_stage(Builder& net, int x, const ResidualStage& stage, Ramp& ramp,
                   const Branch& branch) {
  for (int i = 0; i < stage.depth; ++i) {
    net.at({stage.index, i});
    const int64_t stride = i == 0 && stage.index > 0 ? 2 : 1;
    const std::string name =
        "layer" + std::to_string(stage.index + 1) + "." + std::to_string(i) + ".";
    const int changed = branch(net, x, name, stage.planes, stride);
    const int kept = shortcut(net, x, name + "downsample.", stage.expansion * stage.planes, stride);
    x = net.activate(net.residual(kept, changed, ramp.next()), stage.curve);
  }
  net.end_stage({net.grid(x), 0, stage.depth, x});
  return x;
}

// All of them, by the row's planes and depths.
template <class Branch>
int residual_stages(Builder& net, int x, const ModelSpec& spec, int64_t expansion,
                    const Branch& branch) {
  const auto& planes = spec.list("planes");
  const auto& depths = spec.list("depths");
  Ramp ramp(depths);
  for (size_t s = 0; s < depths.size(); ++s) {
    x = residual_stage(net, x, {static_cast<int>(s), planes[s], expansion, depths[s]}, ramp,
                       branch);
  }
  return x;
}

}  // namespace soft::zoo
