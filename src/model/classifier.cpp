#include "model/classifier.h"

#include "attention/linear.h"
#include "attention/torch.h"
#include "base/error.h"
#include "base/finite.h"
#include "base/npy.h"
#include "model/init.h"

namespace soft {
namespace {

using torch::Tensor;

// Tokens without their class token, back on the grid: [B, n, C] -> [B, C, H, W].
Tensor as_map(const Tensor& x, Grid grid, int64_t prefix) {
  const Tensor channels_first = x.narrow(1, prefix, grid.size()).transpose(1, 2);
  return channels_first.reshape({x.size(0), x.size(2), grid.h, grid.w});
}

Tensor as_map(const Tensor& x, const Tokens& tokens) {
  return as_map(x, tokens.grid, tokens.prefix);
}

}  // namespace

Classifier::Classifier(const ModelSpec& spec) : spec_(spec) {
  validate(spec);
  for (int stage = 0; stage < static_cast<int>(spec.stages.size()); ++stage) register_stage(stage);
  const int64_t dim = spec.stages.back().dim;
  if (spec.class_token) class_token_ = register_parameter("cls_token", torch::zeros({1, 1, dim}));
  norm_ =
      register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({dim}).eps(1e-6)));
  head_ = register_module("head", torch::nn::Linear(dim, spec.classes));
  initialise(*this);
}

void Classifier::register_stage(int index) {
  const StageSpec& row = spec_.stages[index];
  const std::string number = std::to_string(index + 1);
  const Grid grid = stage_grid(spec_, index, {spec_.image_size, spec_.image_size});
  const int64_t prefix = has_class_token(spec_, index) ? 1 : 0;
  Stage stage;
  stage.embed = register_module("patch_embed" + number, std::make_shared<PatchEmbed>(spec_, index));
  stage.positions =
      register_parameter("pos_embed" + number, torch::zeros({1, grid.size() + prefix, row.dim}));
  const auto blocks =
      register_module("block" + number, std::make_shared<torch::nn::Module>("block" + number));
  for (int i = 0; i < row.depth; ++i) {
    stage.layers.push_back(blocks->register_module(
        std::to_string(i), std::make_shared<Layer>(attention_of(spec_, index), spec_.mlp_ratio)));
  }
  stages_.push_back(std::move(stage));
}

void Classifier::check_input(const Tensor& images) const {
  if (images.dim() != 4 || images.size(1) != 3 || images.size(0) < 1) {
    fail("images must be a non-empty batch [N, 3, H, W], not [{}]",
         shape_text(images.sizes().vec()));
  }
  check_image(spec_, {images.size(2), images.size(3)});
}

// Learned positions, bilinearly resized when the grid is not the one they were made for. A class
// token's own vector is not resized.
Tensor Classifier::positions_for(int stage, Grid grid) const {
  const Tensor& stored = stages_[stage].positions;
  const Grid made_for = stage_grid(spec_, stage, {spec_.image_size, spec_.image_size});
  if (grid == made_for) return stored;
  const int64_t prefix = stored.size(1) - made_for.size();
  const Tensor map = as_map(stored, made_for, prefix);
  const Tensor resized =
      torch::upsample_bilinear2d(map, {grid.h, grid.w}, false).flatten(2).transpose(1, 2);
  return prefix == 0 ? resized : torch::cat({stored.narrow(1, 0, prefix), resized}, 1);
}

Classifier::Sequence Classifier::enter_stage(int index, const Tensor& map) {
  const auto [tokens, grid] = stages_[index].embed->forward(map);
  Sequence sequence{tokens, {grid, has_class_token(spec_, index) ? 1 : 0, {}, is_training(), {}}};
  if (sequence.tokens.prefix > 0) {
    sequence.x = torch::cat({class_token_.expand({tokens.size(0), -1, -1}), tokens}, 1);
  }
  sequence.x = sequence.x + positions_for(index, grid);
  return sequence;
}

Classifier::Sequence Classifier::run_stage(int index, const Tensor& map) {
  Sequence sequence = enter_stage(index, map);
  for (const auto& layer : stages_[index].layers) {
    sequence.x = layer->forward(sequence.x, sequence.tokens);
  }
  return sequence;
}

Tensor Classifier::forward(const Tensor& images) {
  check_input(images);
  Sequence sequence = run_stage(0, images);
  for (size_t stage = 1; stage < stages_.size(); ++stage) {
    sequence = run_stage(static_cast<int>(stage), as_map(sequence.x, sequence.tokens));
  }
  const Tensor normed = norm_(sequence.x);
  return linear(head_, spec_.class_token ? normed.select(1, 0) : normed.mean(1));
}

std::vector<Tensor> Classifier::features(const Tensor& images) {
  check_input(images);
  std::vector<Tensor> maps;
  Tensor map = images;
  for (size_t stage = 0; stage < stages_.size(); ++stage) {
    const Sequence sequence = run_stage(static_cast<int>(stage), map);
    const bool last = stage + 1 == stages_.size();
    map = as_map(last ? norm_(sequence.x) : sequence.x, sequence.tokens);
    maps.push_back(map);
  }
  return maps;
}

std::string Classifier::first_not_finite(const Tensor& images) {
  const auto finite = [](const Tensor& x) { return torch::isfinite(x).all().item<bool>(); };
  Tensor map = images;
  for (int stage = 0; stage < static_cast<int>(stages_.size()); ++stage) {
    auto [x, tokens] = enter_stage(stage, map);
    if (!finite(x)) return embedding_place(stage);
    for (size_t i = 0; i < stages_[stage].layers.size(); ++i) {
      x = stages_[stage].layers[i]->forward(x, tokens);
      if (!finite(x)) return layer_place(stage, static_cast<int>(i));
    }
    map = as_map(x, tokens);
  }
  return "";
}

void Classifier::check_layer(int stage, int layer) const {
  if (stage < 0 || stage >= static_cast<int>(stages_.size())) {
    fail_usage("stage {} does not exist; {} has {}", stage + 1, spec_.name, stages_.size());
  }
  const auto count = static_cast<int>(stages_[stage].layers.size());
  if (layer < 0 || layer >= count) {
    fail_usage("layer {} does not exist; stage {} has {}", layer + 1, stage + 1, count);
  }
}

Tensor Classifier::attention_row(const Tensor& images, int stage, int layer, int64_t query,
                                 int count) {
  check_input(images);
  check_layer(stage, layer);
  check_layer(stage, layer + count - 1);
  Tensor map = images;
  for (int before = 0; before < stage; ++before) {
    const Sequence sequence = run_stage(before, map);
    map = as_map(sequence.x, sequence.tokens);
  }
  auto [x, tokens] = enter_stage(stage, map);
  std::vector<Tensor> rows;  // [B, h, n] each
  for (int i = 0; i < layer + count; ++i) {
    Layer& present = *stages_[stage].layers[i];
    if (i >= layer) {
      const Heads heads = present.attention().project(present.attention_input(x));
      rows.push_back(present.attention().row(heads, tokens, query + tokens.prefix));
    }
    if (i + 1 < layer + count) x = present.forward(x, tokens);
  }
  return torch::cat(rows, 1);
}

void Classifier::start_step(int64_t step) {
  for (const Stage& stage : stages_) {
    for (const auto& layer : stage.layers) layer->attention().start_step(step);
  }
}

void Classifier::set_drop_path(double rate, bool whole_samples) {
  std::vector<Layer*> all;
  for (const Stage& stage : stages_) {
    for (const auto& layer : stage.layers) all.push_back(layer.get());
  }
  for (size_t i = 0; i < all.size(); ++i) {
    const double share = all.size() > 1 ? static_cast<double>(i) / (all.size() - 1) : 0;
    all[i]->set_drop({rate * share, whole_samples});
  }
}

}  // namespace soft
