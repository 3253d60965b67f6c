// What shapes show: the frame, dims, depths, sampling windows, value kernels, heads (through the
// value path or the sampler), classes and the grid of positions. What they do not show comes from
// the row of the table with the same frame, else from the family's defaults, and is said in the
// log.
#include "weights/infer.h"

#include <fmt/ranges.h>

#include "base/error.h"
#include "base/log.h"
#include "describe/operation.h"
#include "weights/imagenet.h"
#include "weights/infer_zoo.h"
#include "weights/shapes.h"

namespace soft {
namespace {

using Assumptions = std::vector<std::string>;

// The released code lists 20 layers in Small's third stage, the paper 7: both are soft-small.
void accept_released_small(ModelSpec& row, const Shapes& shapes) {
  const bool small = row.name == "soft-small" || row.name == "soft-small-norm";
  if (small && shapes.depth(2) == 20) row.stages[2].depth = 20;
}

bool same_frame(const ModelSpec& row, const Shapes& shapes) {
  if (row.pyramid != shapes.pyramid()) return false;
  if (!row.pyramid && (row.layer == LayerForm::kPre) != shapes.pre_norm(0)) return false;
  for (int s = 0; s < static_cast<int>(row.stages.size()); ++s) {
    const StageSpec& stage = row.stages[s];
    if (stage.dim != shapes.dim(s) || stage.depth != shapes.depth(s)) return false;
  }
  return true;
}

ModelSpec custom_frame(const Shapes& shapes) {
  const char* flat = shapes.pre_norm(0) ? "vit-small-pre" : "vit-small-384x12";
  ModelSpec spec = find_model(shapes.pyramid() ? "soft-tiny" : flat);
  spec.name = "custom";
  for (int s = 0; s < static_cast<int>(spec.stages.size()); ++s) {
    StageSpec& stage = spec.stages[s];
    stage.dim = shapes.dim(s);
    stage.depth = shapes.depth(s);
    const bool usual = stage.dim % base_head_dim() == 0;
    stage.heads = usual ? stage.dim / base_head_dim() : 1;
  }
  return spec;
}

ModelSpec frame_of(const Shapes& shapes) {
  for (std::string_view name : model_names()) {
    ModelSpec row = find_model(name);
    if (row.in_zoo() || row.normalise != Normalise::kNone) continue;  // no tensor tells those
    accept_released_small(row, shapes);
    if (same_frame(row, shapes)) return row;
  }
  return custom_frame(shapes);
}

// One of the tensors that the mix of a stage's first layer may have (describe/operation.h).
std::string mix_tensor(const ModelSpec& spec, int stage, std::string_view name) {
  const bool post = layer_of(spec, stage) == LayerForm::kPost;
  return fmt::format("block{}.0.{}.attn.{}", stage + 1, post ? "att.mha" : "attn", name);
}

// Mechanisms with keys of their own. Nyströmformer's tensors are softmax's, except that an ordinary
// ViT block has no value path.
void read_rival(ModelSpec& spec, const Shapes& shapes, Assumptions& assumed) {
  const std::string omega = mix_tensor(spec, 0, kFeaturesName);
  spec.attention = Mechanism::kSoftmax;
  if (shapes.has(mix_tensor(spec, 0, kProjectionName))) {
    spec.attention = Mechanism::kLinformer;
  } else if (shapes.has(omega)) {
    spec.attention = Mechanism::kPerformer;
    spec.stages[0].heads = shapes.heads(spec.stages[0].dim, omega, 1);
    const int features = shapes.side(omega, 0);
    if (features != feature_count(attention_of(spec, 0))) spec.features = features;
  } else if (layer_of(spec, 0) == LayerForm::kPre &&
             shapes.has(mix_tensor(spec, 0, kValueKernelName))) {
    spec.attention = Mechanism::kNystromformer;
    assumed.push_back("attention=nystromformer");
  }
}

void read_mechanism(ModelSpec& spec, const Shapes& shapes, Assumptions& assumed) {
  if (spec.pyramid) spec.stage4 = shapes.pre_norm(3) ? Stage4::kSoftmax : Stage4::kSoft;
  const std::string landmark = mix_tensor(spec, 0, kLandmarkName);
  const bool own_key =
      shapes.has("block1.0.att.mha.W_k.weight") || shapes.has("block1.0.attn.kv.weight");
  if (own_key) {
    read_rival(spec, shapes, assumed);
  } else if (!shapes.has(landmark)) {
    spec.attention = Mechanism::kSoft;
    spec.sampler = Sampler::kAvg;
    assumed.push_back("attention=soft, sampler=avg");
  } else {
    spec.attention = shapes.axes(landmark) == 2 ? Mechanism::kSoftDense : Mechanism::kSoft;
  }
}

void read_stage(ModelSpec& spec, const Shapes& shapes, int stage, Assumptions& assumed) {
  StageSpec& row = spec.stages[stage];
  const Mechanism mechanism = attention_of(spec, stage).mechanism;
  const std::string landmark = mix_tensor(spec, stage, kLandmarkName);
  const std::string conv = mix_tensor(spec, stage, kValueKernelName);
  const std::string omega = mix_tensor(spec, stage, kFeaturesName);
  const std::string e = mix_tensor(spec, stage, kProjectionName);
  const std::string& kernel = mechanism == Mechanism::kLinformer ? e : landmark;
  if (shapes.has(kernel)) row.heads = shapes.heads(row.dim, kernel, 0);
  if (shapes.has(omega)) row.heads = shapes.heads(row.dim, omega, 1);
  if (shortens_keys(mechanism)) {
    if (shapes.has(kernel)) {
      row.ratio = shapes.side(kernel, 2);
    } else {
      assumed.push_back(fmt::format("ratio {} in stage {}", row.ratio, stage + 1));
    }
  }
  if (shapes.has(conv)) {
    row.heads = shapes.side(conv, 0);
    row.value_kernel = shapes.side(conv, 2);
  } else if (spec.value_path && layer_of(spec, stage) == LayerForm::kPost) {
    row.value_kernel = 0;
  }
  const bool heads_hidden = !shapes.has(conv) && !shapes.has(kernel) && !shapes.has(omega);
  if (heads_hidden && spec.name == "custom") {
    assumed.push_back(fmt::format("{} heads in stage {}", row.heads, stage + 1));
  }
}

// Positions show the grid but not the picture it came from, hence not how overlapping convolutions
// divide it: the row's strides count, made larger where the picture would be too small to be true.
void guess_strides(ModelSpec& spec, const Shapes& shapes, Assumptions& assumed) {
  const auto row = spec.stem_strides;
  for (int& stride : spec.stem_strides) {
    if (shapes.first_grid() * stem_stride(spec) < kSmallestSide) stride = 2;
  }
  if (spec.name == "custom" || spec.stem_strides != row) {
    assumed.push_back(fmt::format("stem_strides={}", fmt::join(spec.stem_strides, ",")));
  }
}

void read_stem(ModelSpec& spec, const Shapes& shapes, Assumptions& assumed) {
  const std::string first = "patch_embed1.proj.0.weight";
  spec.overlap = !spec.pyramid || shapes.has("patch_embed1.proj.3.weight");
  if (!spec.pyramid) {
    spec.patch = shapes.side(first, 2);
  } else if (spec.overlap) {
    spec.stem_dim = shapes.side(first, 0);
    guess_strides(spec, shapes, assumed);
  } else if (const int stride = shapes.side(first, 2); stride != stem_stride(spec)) {
    spec.stem_strides = {stride, 1, 1};  // only the product matters here
  }
}

// Classes and image size are the file's own, whatever the row says.
void read_ends(ModelSpec& spec, const Shapes& shapes) {
  spec.image_size = shapes.first_grid() * stem_stride(spec);
  spec.classes = shapes.side("head.weight", 0);
}

// Off when no layer that could have a value path does. The ordinary ViT block never has one.
void read_value_path(ModelSpec& spec, const Shapes& shapes) {
  spec.value_path = true;
  bool possible = false;
  for (int s = 0; s < static_cast<int>(spec.stages.size()); ++s) {
    if (shapes.has(mix_tensor(spec, s, kValueKernelName))) return;
    possible = possible || attention_of(spec, s).value_kernel > 0;
  }
  spec.value_path = !possible;
}

ModelSpec infer_spec(const Shapes& shapes, Assumptions& assumed) {
  ModelSpec spec = frame_of(shapes);
  read_mechanism(spec, shapes, assumed);
  read_value_path(spec, shapes);
  spec.class_token = shapes.has("cls_token");
  const int stages = static_cast<int>(spec.stages.size());
  for (int s = 0; s < stages; ++s) read_stage(spec, shapes, s, assumed);
  const bool post = layer_of(spec, 0) == LayerForm::kPost;
  const std::string hidden = post ? "block1.0.att.ff1.weight" : "block1.0.mlp.fc1.weight";
  spec.mlp_ratio = shapes.side(hidden, 0) / shapes.side(hidden, 1);
  read_stem(spec, shapes, assumed);
  read_ends(spec, shapes);
  return spec;
}

Card checked_card(const Weights& weights, const ModelSpec& spec) {
  try {
    validate(spec);
  } catch (const Error& error) {
    fail("the shapes in '{}' make no model: {}", weights.path, error.what());
  }
  check_fit(weights, spec);
  Card card;
  card.spec = spec;
  if (spec.classes == kImagenetClasses) card.class_names = imagenet_names();
  return card;
}

}  // namespace

Card infer_card(const Weights& weights) {
  if (!weights.tensors.count("pos_embed1") || weights.tensors.count("patch_embed1.norm.weight")) {
    if (const auto spec = infer_zoo(weights)) {
      log("'{}' carries no card; by its tensors it is {}", weights.path, spec->name);
      return checked_card(weights, *spec);
    }
  }
  Assumptions assumed;
  const ModelSpec spec = infer_spec(Shapes(weights), assumed);
  Card card = checked_card(weights, spec);
  const std::string guesses = fmt::format("{}", fmt::join(assumed, ", "));
  log("'{}' carries no card; by its shapes it is {} for {} px{}{}", weights.path, spec.name,
      spec.image_size, guesses.empty() ? "" : ", assuming ", guesses);
  return card;
}

Card fit_card(const Weights& weights, ModelSpec row) {
  if (row.in_zoo()) return checked_card(weights, fit_zoo(weights, std::move(row)));
  const Shapes shapes(weights);
  accept_released_small(row, shapes);
  read_ends(row, shapes);
  return checked_card(weights, row);
}

}  // namespace soft
