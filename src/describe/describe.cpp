// The SOFT family: four stages with shrinking grids, or one flat stage, under their published
// names.
#include <fmt/format.h>

#include "describe/builder.h"
#include "describe/layer.h"
#include "describe/zoo/zoo.h"

namespace soft {
namespace {

constexpr double kPatchNormEpsilon = 1e-5, kLastNormEpsilon = 1e-6;

class Walk {
 public:
  Walk(const ModelSpec& spec, Grid image) : spec_(spec), image_(image) {
    for (const StageSpec& stage : spec.stages) layers_ += stage.depth;
  }

  Description run() {
    for (int s = 0; s < stages(); ++s) declare_position(s);
    if (spec_.class_token) declare_class_token();
    int x = -1;
    for (int s = 0; s < stages(); ++s) x = stage(s, x);
    net_.at({});
    x = net_.layer_norm(x, "norm", kLastNormEpsilon);
    net_.result().stages.back().features = x;
    net_.linear(net_.pool(x, {spec_.class_token}), "head", spec_.classes);
    return net_.take();
  }

 private:
  int stages() const { return static_cast<int>(spec_.stages.size()); }
  int64_t dim(int stage) const { return spec_.stages[stage].dim; }
  int64_t prefix(int stage) const { return has_class_token(spec_, stage) ? 1 : 0; }
  Grid made_for(int stage) const {
    return stage_grid(spec_, stage, {spec_.image_size, spec_.image_size});
  }
  static std::string position_name(int stage) { return fmt::format("pos_embed{}", stage + 1); }

  // Files hold the positions of all stages in front, then the class token.
  void declare_position(int stage) {
    net_.at({stage, -1});
    net_.declare({position_name(stage),
                  {1, prefix(stage) + made_for(stage).size(), dim(stage)},
                  TensorKind::kTrained,
                  Start::kNormal});
  }

  void declare_class_token() {
    net_.declare(
        {"cls_token", {1, 1, dim(stages() - 1)}, TensorKind::kTrained, Start::kNormal, false});
  }

  int stage(int index, int before) {
    net_.at({index, -1});
    int x = before < 0
                ? net_.pixels(image_)
                : net_.unflatten(before, {net_.result().stages.back().grid, prefix(index - 1)});
    x = embed(index, x);
    const Grid grid = net_.grid(x);
    x = net_.flatten(x);
    if (spec_.pyramid && !spec_.overlap) {
      x = net_.layer_norm(x, fmt::format("patch_embed{}.proj.1", index + 1), kPatchNormEpsilon);
    }
    if (prefix(index) > 0) x = net_.class_token(x, "cls_token");
    x = net_.position(x, position_name(index), {made_for(index), grid, prefix(index)});
    x = layers(index, x, grid);
    net_.end_stage({grid, prefix(index), spec_.stages[index].depth, x});
    return x;
  }

  // Overlapping: 3x3 convolutions + BN + ReLU, three as the stem, one before each later stage. PVT
  // style and flat: one convolution with kernel = stride.
  int embed(int index, int map) {
    const std::string proj = fmt::format("patch_embed{}.proj.", index + 1);
    if (!spec_.pyramid) return patches(map, proj, dim(index), spec_.patch);
    if (!spec_.overlap) return patches(map, proj, dim(index), index == 0 ? stem_stride(spec_) : 2);
    if (index > 0) return conv_bn(map, proj, 0, dim(index), 2);
    const auto& strides = spec_.stem_strides;
    map = conv_bn(map, proj, 0, spec_.stem_dim, strides[0]);
    map = conv_bn(map, proj, 3, spec_.stem_dim, strides[1]);
    return conv_bn(map, proj, 6, dim(index), strides[2]);
  }

  int patches(int map, const std::string& proj, int64_t out, int64_t side) {
    return net_.convolution(map, proj + "0", {net_.shape(map)[0], out, side, side});
  }

  // Published names count the ReLU too: conv 0, BN 1, ReLU 2, conv 3, …
  int conv_bn(int map, const std::string& proj, int first, int64_t out, int64_t stride) {
    op::Convolution conv{net_.shape(map)[0], out, 3, stride, 1};
    conv.batch_norm = true;
    conv.after = Curve::kRelu;
    return net_.convolution(map, proj + std::to_string(first), conv,
                            proj + std::to_string(first + 1));
  }

  int layers(int index, int x, Grid grid) {
    LayerShape shape{attention_of(spec_, index), spec_.mlp_ratio * dim(index), grid, prefix(index)};
    for (int i = 0; i < spec_.stages[index].depth; ++i, ++layer_) {
      net_.at({index, i});
      shape.depth = layers_ > 1 ? static_cast<double>(layer_) / (layers_ - 1) : 0;
      x = add_layer(net_, x, shape, fmt::format("block{}.{}.", index + 1, i));
    }
    return x;
  }

  const ModelSpec& spec_;
  Grid image_;
  Builder net_;
  int layer_ = 0, layers_ = 0;  // over all stages
};

}  // namespace

Description describe(const ModelSpec& spec, Grid image) {
  if (spec.in_zoo()) return zoo::describe(spec, image);
  return Walk(spec, image).run();
}

std::vector<TensorShape> tensors_of(const ModelSpec& spec) {
  return describe(spec, {spec.image_size, spec.image_size}).tensors;
}

}  // namespace soft
