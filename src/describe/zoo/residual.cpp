#include "describe/zoo/residual.h"

namespace soft::zoo {

int residual_stem(Builder& net, Grid image, int64_t dim, Curve curve) {
  net.at({0, -1});
  net.start_with(Start::kFanOut, Start::kUniform);
  const int x = unit(net, net.pixels(image), "conv1", "bn1", {dim, 7, 2, 1, curve});
  return net.window_pool(x, {true, 3, 2, 1});
}

int shortcut(Builder& net, int x, const std::string& name, int64_t out, int64_t stride) {
  if (stride == 1 && net.shape(x)[0] == out) return x;
  return unit(net, x, name + "0", name + "1", {out, 1, stride, 1, Curve::kNone});
}

}  // namespace soft::zoo
