#include "spec/model_spec.h"

#include <cmath>

#include "base/error.h"

namespace soft {
namespace {

bool is_square(int value) {
  const int root = static_cast<int>(std::lround(std::sqrt(value)));
  return root * root == value;
}

bool is_last_of_pyramid(const ModelSpec& spec, int stage) { return spec.pyramid && stage == 3; }

}  // namespace

bool uses_landmarks(Mechanism mechanism) {
  return mechanism == Mechanism::kSoft || mechanism == Mechanism::kSoftNorm;
}

bool shares_query_and_key(Mechanism mechanism) { return mechanism != Mechanism::kSoftmax; }

Inverse default_inverse(Mechanism mechanism) {
  return mechanism == Mechanism::kSoftNorm ? Inverse::kNewtonAdaptive : Inverse::kNewton;
}

LayerForm layer_of(const ModelSpec& spec, int stage) {
  if (!spec.pyramid) return spec.layer;
  if (!is_last_of_pyramid(spec, stage)) return LayerForm::kPost;
  return spec.stage4 == Stage4::kSoftmax ? LayerForm::kPre : LayerForm::kPost;
}

bool has_class_token(const ModelSpec& spec, int stage) {
  return spec.class_token && (!spec.pyramid || stage == 3);
}

AttentionSpec attention_of(const ModelSpec& spec, int stage) {
  const StageSpec& row = spec.stages.at(stage);
  AttentionSpec attention;
  attention.mechanism = spec.attention;
  attention.dim = row.dim;
  attention.heads = row.heads;
  attention.ratio = row.ratio;
  attention.value_kernel = spec.value_path ? row.value_kernel : 0;
  attention.sampler = spec.sampler;
  attention.landmarks = spec.landmarks;
  attention.inverse = spec.inverse;
  attention.inverse_grad = spec.inverse_grad;
  attention.newton_steps = spec.newton_steps;
  attention.epsilon = spec.epsilon;
  attention.names = layer_of(spec, stage);
  if (is_last_of_pyramid(spec, stage)) {
    const bool softmax = spec.stage4 == Stage4::kSoftmax;
    attention.mechanism = softmax ? Mechanism::kSoftmax : Mechanism::kSoftDense;
    attention.landmarks = 0;
  }
  // The ordinary ViT block has no value path.
  if (attention.names == LayerForm::kPre && attention.mechanism == Mechanism::kSoftmax) {
    attention.value_kernel = 0;
  }
  return attention;
}

Grid stage_grid(const ModelSpec& spec, int stage, Grid image) {
  if (!spec.pyramid) return {image.h / spec.patch, image.w / spec.patch};
  const auto shrink = [&](int64_t side, int stride) {
    return spec.overlap ? (side + stride - 1) / stride : side / stride;
  };
  Grid grid = image;
  if (spec.overlap) {
    for (int stride : spec.stem_strides) grid = {shrink(grid.h, stride), shrink(grid.w, stride)};
  } else {
    const int stride = spec.stem_strides[0] * spec.stem_strides[1] * spec.stem_strides[2];
    grid = {shrink(grid.h, stride), shrink(grid.w, stride)};
  }
  for (int s = 0; s < stage; ++s) grid = {shrink(grid.h, 2), shrink(grid.w, 2)};
  return grid;
}

void validate(const AttentionSpec& spec) {
  if (spec.dim < 1 || spec.heads < 1 || spec.dim % spec.heads != 0) {
    fail_usage("{} channels cannot be split into {} heads; choose a divisor", spec.dim, spec.heads);
  }
  if (spec.ratio < 1) fail_usage("ratio={} must be at least 1", spec.ratio);
  if (spec.value_kernel != 0 && spec.value_kernel % 2 == 0) {
    fail_usage("value kernel {} must be odd (or 0 for none)", spec.value_kernel);
  }
  if (spec.newton_steps < 1 || spec.newton_steps > 200) {
    fail_usage("newton_steps={} must lie in 1..200", spec.newton_steps);
  }
  if (!(spec.epsilon >= 0 && spec.epsilon <= 1)) {
    fail_usage("epsilon={} must lie in 0..1", spec.epsilon);
  }
  if (spec.landmarks < 0) fail_usage("landmarks={} must not be negative", spec.landmarks);
  const bool pooled = spec.sampler == Sampler::kConv || spec.sampler == Sampler::kAvg;
  if (uses_landmarks(spec.mechanism) && pooled && !spec.sequence && !is_square(spec.landmarks)) {
    const int root = static_cast<int>(std::lround(std::sqrt(spec.landmarks)));
    fail_usage("landmarks={} is not a square; on a 2-D grid sampler={} needs g*g, e.g. {}",
               spec.landmarks, name_of(spec.sampler), root * root);
  }
  if (uses_landmarks(spec.mechanism) && spec.inverse == Inverse::kExact &&
      spec.inverse_grad == InverseGrad::kUnrolled) {
    fail_usage("inverse=exact has no steps to unroll; use inverse_grad=one-shot");
  }
}

void validate(const ModelSpec& spec) {
  const size_t wanted = spec.pyramid ? 4 : 1;
  if (spec.stages.size() != wanted) {
    fail_usage("a {} model has {} stage(s), not {}", spec.pyramid ? "pyramid" : "flat", wanted,
               spec.stages.size());
  }
  if (spec.classes < 1) fail_usage("classes={} must be at least 1", spec.classes);
  if (spec.mlp_ratio < 1) fail_usage("mlp_ratio={} must be at least 1", spec.mlp_ratio);
  if (spec.stem_dim < 1) fail_usage("stem_dim={} must be at least 1", spec.stem_dim);
  for (int stride : spec.stem_strides) {
    if (stride < 1) fail_usage("a stem stride of {} must be at least 1", stride);
  }
  if (!spec.pyramid && spec.patch < 1) fail_usage("patch={} must be at least 1", spec.patch);
  if (spec.pyramid && !spec.class_token && spec.stage4 == Stage4::kSoftmax) {
    fail_usage("class_token=off needs stage4=soft; the released stage 4 reads its class token");
  }
  for (size_t s = 0; s < wanted; ++s) {
    if (spec.stages[s].depth < 1) fail_usage("depth of stage {} must be at least 1", s + 1);
    validate(attention_of(spec, static_cast<int>(s)));
  }
  check_image(spec, {spec.image_size, spec.image_size});
}

void check_image(const ModelSpec& spec, Grid image) {
  if (image.h < kSmallestSide || image.w < kSmallestSide) {
    fail("image of {}x{} pixels is too small; {} needs at least {} per side", image.h, image.w,
         spec.name, kSmallestSide);
  }
  for (size_t s = 0; s < spec.stages.size(); ++s) {
    const Grid grid = stage_grid(spec, static_cast<int>(s), image);
    const AttentionSpec attention = attention_of(spec, static_cast<int>(s));
    if (grid.size() < 1) {
      fail("image of {}x{} pixels leaves no token in stage {}; use a larger one", image.h, image.w,
           s + 1);
    }
    if (!uses_landmarks(attention.mechanism)) continue;
    if (attention.landmarks > grid.size()) {
      fail_usage(
          "landmarks={} exceeds the {} tokens of stage {} at {}x{} pixels; use fewer landmarks "
          "or a larger image",
          attention.landmarks, grid.size(), s + 1, image.h, image.w);
    }
    if (attention.landmarks == 0 && (grid.h < attention.ratio || grid.w < attention.ratio)) {
      fail(
          "stage {} has a {}x{} grid at {}x{} pixels, smaller than its {}x{} sampling window; use "
          "a "
          "larger image",
          s + 1, grid.h, grid.w, image.h, image.w, attention.ratio, attention.ratio);
    }
  }
}

}  // namespace soft
