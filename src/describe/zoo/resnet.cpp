// ResNet (He et al., 2016) as torchvision publishes it: stride in the 3x3 convolution, projections
// with batch norm where the shape changes.
#include <fmt/format.h>

#include "describe/zoo/residual.h"
#include "describe/zoo/zoo.h"

namespace soft::zoo {
namespace {

int basic(Builder& net, int x, const std::string& name, int64_t planes, int64_t stride) {
  x = unit(net, x, name + "conv1", name + "bn1", {planes, 3, stride});
  return unit(net, x, name + "conv2", name + "bn2", {planes, 3, 1, 1, Curve::kNone});
}

int bottleneck(Builder& net, int x, const std::string& name, int64_t planes, int64_t stride) {
  x = unit(net, x, name + "conv1", name + "bn1", {planes});
  x = unit(net, x, name + "conv2", name + "bn2", {planes, 3, stride});
  return unit(net, x, name + "conv3", name + "bn3", {kExpansion * planes, 1, 1, 1, Curve::kNone});
}

}  // namespace

Description describe_resnet(const ModelSpec& spec, Grid image) {
  Builder net;
  const bool basic_blocks = spec.number("bottleneck") == 0;
  int x = residual_stem(net, image, spec.number("stem"), Curve::kRelu);
  const auto branch = basic_blocks ? basic : bottleneck;
  x = residual_stages(net, x, spec, basic_blocks ? 1 : kExpansion, branch);
  mean_head(net, x, "fc", spec.classes);
  return net.take();
}

}  // namespace soft::zoo
