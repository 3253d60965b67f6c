#include "model/classifier.h"

#include "attention/torch.h"
#include "base/error.h"
#include "base/finite.h"
#include "base/npy.h"
#include "model/positions.h"

namespace soft {
namespace {

using torch::Tensor;

void check_input(const ModelSpec& spec, const Input& input) {
  const Tensor& images = input.pixels;
  if (images.dim() != 4 || images.size(1) != 3 || images.size(0) < 1) {
    fail("images must be a non-empty batch [N, 3, H, W], not [{}]",
         shape_text(images.sizes().vec()));
  }
  check_image(spec, input.size());
}

std::string text_of(const Place& place) {
  return place.layer < 0 ? embedding_place(place.stage) : layer_place(place.stage, place.layer);
}

Grid own_size(const ModelSpec& spec) { return {spec.image_size, spec.image_size}; }

Description described(const ModelSpec& spec) {
  validate(spec);
  return describe(spec, own_size(spec));
}

}  // namespace

Classifier::Classifier(const ModelSpec& spec)
    : DescribedModel(spec.name, described(spec)),
      spec_(spec),
      latest_(own_route()),
      latest_size_(own_size(spec)) {}

void Classifier::set_recompute(bool recompute) {
  if (recompute && own_route()->layers.empty()) {
    fail_usage(
        "recompute=on finds no layer of {} that could be computed twice: all hold batch norms",
        spec_.name);
  }
  recompute_ = recompute;
}

std::shared_ptr<const Classifier::Route> Classifier::route_for(const Input& input) {
  check_input(spec_, input);
  const std::lock_guard<std::mutex> lock(latest_lock_);
  if (input.size() != latest_size_) {
    latest_ = std::make_shared<const Route>(describe(spec_, input.size()));
    latest_size_ = input.size();
  }
  return latest_;
}

Tensor Classifier::forward(const Input& input) { return run_parts(*route_for(input), input); }

Tensor Classifier::embed(const Input& input) {
  const auto route = route_for(input);
  return value_of(route->model.head().inputs[0], *route, input);
}

std::vector<Tensor> Classifier::features(const Input& input) {
  const auto route = route_for(input);
  std::vector<Tensor> maps;
  run_parts(*route, input, [&](int part, const std::vector<Tensor>& values) {
    if (maps.size() == route->model.stages.size()) return false;
    const StageOutline& stage = route->model.stages[maps.size()];
    if (part == stage.features + 1) {
      maps.push_back(as_map(values[stage.features], stage.prefix, stage.grid));
    }
    return true;
  });
  return maps;
}

std::string Classifier::first_not_finite(const Input& input) {
  const auto route = route_for(input);
  const std::vector<Part>& parts = route->model.parts;
  std::string first;
  run_parts(*route, input, [&](int part, const std::vector<Tensor>& values) {
    if (part == 0 || parts[part].place == parts[part - 1].place) return true;
    if (torch::isfinite(values[part - 1]).all().item<bool>()) return true;
    first = text_of(parts[part - 1].place);
    return false;
  });
  return first;
}

void Classifier::check_layer(int stage, int layer) const {
  const std::vector<StageOutline>& stages = description().stages;
  if (stage < 0 || stage >= static_cast<int>(stages.size())) {
    fail_usage("stage {} does not exist; {} has {}", stage + 1, spec_.name, stages.size());
  }
  if (layer < 0 || layer >= stages[stage].depth) {
    fail_usage("layer {} does not exist; stage {} has {}", layer + 1, stage + 1,
               stages[stage].depth);
  }
}

void Classifier::watch_mixes(const Input& input, int stage, int layer, int count,
                             const std::function<void(const Mixing&)>& seen) {
  check_layer(stage, layer);
  check_layer(stage, layer + count - 1);
  const auto route = route_for(input);
  int left = count;
  run_parts(*route, input, [&](int index, const std::vector<Tensor>& values) {
    const Part& part = route->model.parts[index];
    const auto* mix = part.as<op::Mix>();
    if (mix == nullptr || part.place.stage != stage || part.place.layer < layer) return true;
    Attention& attention = attention_of(part);
    const auto& from = part.inputs;
    seen({attention.split(values[from[0]], values[from[1]], values[from[2]]),
          tokens_of(*mix, is_training()), &attention});
    return --left > 0;
  });
}

Classifier::Mixing Classifier::mixing(const Input& input, int stage, int layer) {
  Mixing found;
  watch_mixes(input, stage, layer, 1, [&](const Mixing& mixing) { found = mixing; });
  return found;
}

Tensor Classifier::attention_row(const Input& input, int stage, int layer, int64_t query, int count,
                                 const std::function<void(const Mixing&)>& seen) {
  std::vector<Tensor> rows;  // [B, h, n] each
  watch_mixes(input, stage, layer, count, [&](const Mixing& mixing) {
    if (seen) seen(mixing);
    rows.push_back(
        mixing.attention->row(mixing.heads, mixing.tokens, query + mixing.tokens.prefix));
  });
  return torch::cat(rows, 1);
}

}  // namespace soft
