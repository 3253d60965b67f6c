#include "spec/model_spec.h"

#include <algorithm>
#include <cmath>

namespace soft {
namespace {

constexpr int kMostFeatures = 65'536;

bool is_square(int value) {
  const int root = static_cast<int>(std::lround(std::sqrt(value)));
  return root * root == value;
}

void check_range(std::string_view key, int value, int least, int most) {
  if (value < least || value > most) {
    fail_usage("{}={} must lie in {}..{}", key, value, least, most);
  }
}

// Landmarks that are drawn one by one may be any number; windows on a grid are g x g.
bool needs_square(const AttentionSpec& spec) {
  if (spec.sequence || !shortens_keys(spec.mechanism)) return false;
  return !uses_landmarks(spec.mechanism) || spec.sampler == Sampler::kConv ||
         spec.sampler == Sampler::kAvg;
}

// Both say how landmarks are used.
void check_forms(const AttentionSpec& spec) {
  if (uses_landmarks(spec.mechanism)) {
    if (spec.mechanism == Mechanism::kSoftNorm && spec.normalise != Normalise::kNone &&
        spec.normalise != Normalise::kCore) {
      fail_usage("attention=soft-norm is normalise=core; normalise={} needs attention=soft",
                 name_of(spec.normalise));
    }
    return;
  }
  if (spec.kernel_scale != KernelScale::kReleased) {
    fail_usage("kernel_scale={} needs landmarks, which attention={} has not; use attention=soft",
               name_of(spec.kernel_scale), name_of(spec.mechanism));
  }
  if (spec.normalise != Normalise::kNone) {
    fail_usage("normalise={} needs landmarks, which attention={} has not; use attention=soft",
               name_of(spec.normalise), name_of(spec.mechanism));
  }
}

void check_rival(const AttentionSpec& spec) {
  check_range("features", spec.features, 0, kMostFeatures);
  if (spec.mechanism == Mechanism::kPerformer && feature_count(spec) > kMostFeatures) {
    fail_usage("{} channels a head need {} features by default; set features=1..{}, or more heads",
               spec.head_dim(), feature_count(spec), kMostFeatures);
  }
  check_range("redraw_steps", spec.redraw_steps, 0, 1'000'000'000);
  check_range("hash_rounds", spec.hash_rounds, 1, 64);
  check_range("bucket_size", spec.bucket_size, 2, 65'536);
  check_range("projection", spec.projection, 1, 65'536);
  check_range("longest", spec.longest, 1, 1 << 24);
}

// What its family makes of the numbers is the family's business; here only that they are numbers.
void validate_numbers(const ModelSpec& spec) {
  constexpr int kMost = 65'536;
  check_range("image_size", spec.image_size, kSmallestSide, kLargestSide);
  check_range("classes", spec.classes, 1, 1'000'000);
  for (const Numbers& numbers : spec.numbers) {
    const bool depth = numbers.key == "depth" || numbers.key == "depths";
    const bool choice = numbers.values == std::vector<int>{0};
    for (const int value : numbers.values) {
      check_range(numbers.key, value, choice ? 0 : 1, depth ? 1000 : kMost);
    }
  }
}

bool is_last_of_pyramid(const ModelSpec& spec, int stage) { return spec.pyramid && stage == 3; }

}  // namespace

bool uses_landmarks(Mechanism mechanism) {
  return mechanism == Mechanism::kSoft || mechanism == Mechanism::kSoftNorm;
}

Normalise normalisation_of(const AttentionSpec& spec) {
  return spec.mechanism == Mechanism::kSoftNorm ? Normalise::kCore : spec.normalise;
}

bool shortens_keys(Mechanism mechanism) {
  return uses_landmarks(mechanism) || mechanism == Mechanism::kLinformer ||
         mechanism == Mechanism::kNystromformer;
}

bool shares_query_and_key(Mechanism mechanism) {
  return mechanism != Mechanism::kSoftmax && mechanism != Mechanism::kLinformer &&
         mechanism != Mechanism::kPerformer && mechanism != Mechanism::kNystromformer;
}

int feature_count(const AttentionSpec& spec) {
  if (spec.features > 0) return spec.features;
  if (spec.sequence) return 256;
  const int d = spec.head_dim();
  return std::max(1, static_cast<int>(d * std::log(d)));
}

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
  attention.kernel_scale = spec.kernel_scale;
  attention.normalise = spec.normalise;
  attention.sampler = spec.sampler;
  attention.landmarks = spec.landmarks;
  attention.inverse = spec.inverse;
  attention.inverse_grad = spec.inverse_grad;
  attention.newton_steps = spec.newton_steps;
  attention.epsilon = spec.epsilon;
  attention.features = spec.features;
  attention.redraw_steps = spec.redraw_steps;
  attention.hash_rounds = spec.hash_rounds;
  attention.bucket_size = spec.bucket_size;
  attention.names = layer_of(spec, stage);
  if (is_last_of_pyramid(spec, stage)) {
    const bool softmax = spec.stage4 == Stage4::kSoftmax;
    attention.mechanism = softmax ? Mechanism::kSoftmax : Mechanism::kSoftDense;
    attention.landmarks = 0;
    attention.kernel_scale = KernelScale::kReleased;
    attention.normalise = Normalise::kNone;
  }
  // The ordinary ViT block has no value path.
  if (attention.names == LayerForm::kPre && attention.mechanism == Mechanism::kSoftmax) {
    attention.value_kernel = 0;
  }
  return attention;
}

int stem_stride(const ModelSpec& spec) {
  if (!spec.pyramid) return spec.patch;
  return spec.stem_strides[0] * spec.stem_strides[1] * spec.stem_strides[2];
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
    grid = {shrink(grid.h, stem_stride(spec)), shrink(grid.w, stem_stride(spec))};
  }
  for (int s = 0; s < stage; ++s) grid = {shrink(grid.h, 2), shrink(grid.w, 2)};
  return grid;
}

void validate(const AttentionSpec& spec) {
  check_range("dims", spec.dim, 1, 16'384);
  check_range("heads", spec.heads, 1, spec.dim);
  if (spec.dim % spec.heads != 0) {
    fail_usage("{} channels cannot be split into {} heads; choose a divisor", spec.dim, spec.heads);
  }
  check_range("ratios", spec.ratio, 1, 1024);
  check_range("value_kernels", spec.value_kernel, 0, 255);
  if (spec.value_kernel != 0 && spec.value_kernel % 2 == 0) {
    fail_usage("value kernel {} must be odd (or 0 for none)", spec.value_kernel);
  }
  check_range("newton_steps", spec.newton_steps, 1, 200);
  if (!(spec.epsilon >= 0 && spec.epsilon <= 1)) {
    fail_usage("epsilon={} must lie in 0..1", spec.epsilon);
  }
  check_range("landmarks", spec.landmarks, 0, 65'536);
  if (needs_square(spec) && !is_square(spec.landmarks)) {
    const int root = static_cast<int>(std::lround(std::sqrt(spec.landmarks)));
    const bool sampled = uses_landmarks(spec.mechanism);
    fail_usage("landmarks={} is not a square; on a 2-D grid {}={} needs g*g, e.g. {}",
               spec.landmarks, sampled ? "sampler" : "attention",
               sampled ? name_of(spec.sampler) : name_of(spec.mechanism), root * root);
  }
  check_forms(spec);
  check_rival(spec);
  if (uses_landmarks(spec.mechanism) && spec.inverse == Inverse::kExact &&
      spec.inverse_grad == InverseGrad::kUnrolled) {
    fail_usage("inverse=exact has no steps to unroll; use inverse_grad=one-shot");
  }
}

const std::vector<int>& ModelSpec::list(std::string_view key) const {
  for (const Numbers& row : numbers) {
    if (row.key == key) return row.values;
  }
  fail("{} has no '{}'", name, key);
}

void validate(const ModelSpec& spec) {
  if (spec.in_zoo()) return validate_numbers(spec);
  const size_t wanted = spec.pyramid ? 4 : 1;
  if (spec.stages.size() != wanted) {
    fail_usage("a {} model has {} stage(s), not {}", spec.pyramid ? "pyramid" : "flat", wanted,
               spec.stages.size());
  }
  check_range("image_size", spec.image_size, kSmallestSide, kLargestSide);
  check_range("classes", spec.classes, 1, 1'000'000);
  check_range("mlp_ratio", spec.mlp_ratio, 1, 64);
  check_range("stem_dim", spec.stem_dim, 1, 16'384);
  check_range("patch", spec.patch, 1, 1024);
  for (int stride : spec.stem_strides) check_range("stem_strides", stride, 1, 64);
  if (spec.pyramid && !spec.class_token && spec.stage4 == Stage4::kSoftmax) {
    fail_usage("class_token=off needs stage4=soft; the released stage 4 reads its class token");
  }
  for (size_t s = 0; s < wanted; ++s) {
    check_range("depths", spec.stages[s].depth, 1, 1000);
    validate(attention_of(spec, static_cast<int>(s)));
  }
  check_image(spec, {spec.image_size, spec.image_size}, Fault::kUsage);
}

void check_image(const ModelSpec& spec, Grid image, Fault blame) {
  const auto refuse = [&](const std::string& reason) {
    throw Error(blame, fmt::format("an image of {}x{} pixels {}", image.h, image.w, reason));
  };
  if (image.h < kSmallestSide || image.w < kSmallestSide) {
    refuse(fmt::format("is too small; {} needs at least {} per side", spec.name, kSmallestSide));
  }
  if (image.h > kLargestSide || image.w > kLargestSide) {
    refuse(fmt::format("is too large; at most {} per side are read", kLargestSide));
  }
  for (int s = 0; s < static_cast<int>(spec.stages.size()); ++s) {
    const Grid grid = stage_grid(spec, s, image);
    if (grid.size() < 1)
      refuse(fmt::format("leaves no token in stage {}; use a larger one", s + 1));
    const AttentionSpec attention = attention_of(spec, s);
    if (!shortens_keys(attention.mechanism)) continue;
    if (attention.landmarks > grid.size()) {
      refuse(
          fmt::format("has {} tokens in stage {}, fewer than landmarks={}; use fewer landmarks "
                      "or a larger image",
                      grid.size(), s + 1, attention.landmarks));
    }
    if (attention.landmarks == 0 && (grid.h < attention.ratio || grid.w < attention.ratio)) {
      refuse(
          fmt::format("has {}x{} tokens in stage {}, smaller than the {}x{} sampling window; "
                      "use a larger image",
                      grid.h, grid.w, s + 1, attention.ratio, attention.ratio));
    }
  }
}

}  // namespace soft
