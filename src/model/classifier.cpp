#include "model/classifier.h"

#include <set>

#include "attention/torch.h"
#include "base/error.h"
#include "base/finite.h"
#include "base/npy.h"
#include "model/init.h"
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

// "block1.0.att" and "ff1" of "block1.0.att.ff1".
std::pair<std::string, std::string> split_name(const std::string& name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos) return {"", name};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

std::string text_of(const Place& place) {
  return place.layer < 0 ? embedding_place(place.stage) : layer_place(place.stage, place.layer);
}

// Declared for the sake of files that hold them; no part reads them.
std::vector<TensorShape> unused_tensors(const Description& model) {
  std::set<int> used;
  for (const Part& part : model.parts) used.insert(part.tensors.begin(), part.tensors.end());
  std::vector<TensorShape> unused;
  for (size_t i = 0; i < model.tensors.size(); ++i) {
    if (used.count(static_cast<int>(i)) == 0) unused.push_back(model.tensors[i]);
  }
  return unused;
}

int64_t layers_behind(const Description& model, const Place& place) {
  if (place.stage < 0) return 0;
  int64_t layers = place.layer < 0 ? 0 : -place.layer;
  for (size_t s = place.stage; s < model.stages.size(); ++s) layers += model.stages[s].depth;
  return layers;
}

}  // namespace

Classifier::Classifier(const ModelSpec& spec) : spec_(spec) {
  validate(spec);
  own_ = latest_ = sized(spec, {spec.image_size, spec.image_size});
  latest_size_ = {spec.image_size, spec.image_size};
  make_tensors();
  initialise(own_->model, tensors_);
}

void Classifier::make_tensors() {
  const Description& model = own_->model;
  tensors_.resize(model.tensors.size());
  for (const Part* part : drawing_order(model)) {
    if (const auto* mix = part->as<op::Mix>()) {
      const auto [path, leaf] = split_name(part->name);
      attentions_[part->name] = group(path).register_module(leaf, make_attention(mix->spec));
      continue;
    }
    const std::vector<Tensor> values = layer_values(model, *part);
    for (size_t i = 0; i < values.size(); ++i) {
      Tensor& own = tensors_[part->tensors[i]];
      if (!own.defined()) own = held(model.tensors[part->tensors[i]], values[i]);
    }
  }
  for (const TensorShape& shape : unused_tensors(model)) held(shape, torch::zeros(shape.shape));
  const auto parameters = named_parameters();  // a mechanism registers its own
  const auto buffers = named_buffers();
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const TensorShape& shape = model.tensors[i];
    tensors_[i] = shape.trained() ? parameters[shape.name] : buffers[shape.name];
  }
}

Tensor Classifier::held(const TensorShape& shape, const Tensor& value) {
  const auto [path, leaf] = split_name(shape.name);
  return shape.trained() ? group(path).register_parameter(leaf, value)
                         : group(path).register_buffer(leaf, value);
}

// The module at this path, made with all above it where it is missing.
torch::nn::Module& Classifier::group(const std::string& path) {
  if (path.empty()) return *this;
  const auto found = groups_.find(path);
  if (found != groups_.end()) return *found->second;
  const auto [above, leaf] = split_name(path);
  const auto made = group(above).register_module(leaf, std::make_shared<torch::nn::Module>(leaf));
  groups_[path] = made;
  return *made;
}

std::shared_ptr<const Classifier::Sized> Classifier::sized(const ModelSpec& spec, Grid size) {
  Sized result{describe(spec, size), {}};
  result.last_use.resize(result.model.parts.size());
  for (size_t i = 0; i < result.model.parts.size(); ++i) {
    for (const int input : result.model.parts[i].inputs) {
      result.last_use[input] = static_cast<int>(i);
    }
  }
  return std::make_shared<const Sized>(std::move(result));
}

std::shared_ptr<const Classifier::Sized> Classifier::sized_for(const Input& input) {
  check_input(spec_, input);
  const std::lock_guard<std::mutex> lock(latest_lock_);
  if (input.size() != latest_size_) {
    latest_ = sized(spec_, input.size());
    latest_size_ = input.size();
  }
  return latest_;
}

PartRun Classifier::part_run(const Part& part) {
  PartRun run{part, {}, nullptr, is_training(), drop_};
  for (const int index : part.tensors) run.tensors.push_back(tensors_[index]);
  if (part.as<op::Mix>() != nullptr) run.attention = attentions_.at(part.name).get();
  return run;
}

// Values go as soon as no later part reads them.
Tensor Classifier::run_parts(const Sized& sized, const Input& input, const Watch& watch) {
  const std::vector<Part>& parts = sized.model.parts;
  std::vector<Tensor> values(parts.size());
  for (int i = 0; i < static_cast<int>(parts.size()); ++i) {
    if (watch && !watch(i, values)) return {};
    std::vector<Tensor> inputs;
    for (const int from : parts[i].inputs) inputs.push_back(values[from]);
    for (const int from : parts[i].inputs) {
      if (sized.last_use[from] == i) values[from] = Tensor();
    }
    values[i] = run(part_run(parts[i]), inputs, input);
  }
  return values.back();
}

Tensor Classifier::forward(const Input& input) { return run_parts(*sized_for(input), input); }

Tensor Classifier::embed(const Input& input) {
  const auto sized = sized_for(input);
  Tensor vectors;
  run_parts(*sized, input, [&](int part, const std::vector<Tensor>& values) {
    const bool head = part + 1 == static_cast<int>(values.size());
    if (head) vectors = values[sized->model.head().inputs[0]];
    return !head;
  });
  return vectors;
}

std::vector<Tensor> Classifier::features(const Input& input) {
  const auto sized = sized_for(input);
  std::vector<Tensor> maps;
  run_parts(*sized, input, [&](int part, const std::vector<Tensor>& values) {
    if (maps.size() == sized->model.stages.size()) return false;
    const StageOutline& stage = sized->model.stages[maps.size()];
    if (part == stage.features + 1) {
      maps.push_back(as_map(values[stage.features], stage.prefix, stage.grid));
    }
    return true;
  });
  return maps;
}

std::string Classifier::first_not_finite(const Input& input) {
  const auto sized = sized_for(input);
  const std::vector<Part>& parts = sized->model.parts;
  std::string first;
  run_parts(*sized, input, [&](int part, const std::vector<Tensor>& values) {
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
  const auto sized = sized_for(input);
  int left = count;
  run_parts(*sized, input, [&](int index, const std::vector<Tensor>& values) {
    const Part& part = sized->model.parts[index];
    const auto* mix = part.as<op::Mix>();
    if (mix == nullptr || part.place.stage != stage || part.place.layer < layer) return true;
    Attention& attention = *attentions_.at(part.name);
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

void Classifier::start_step(int64_t step) {
  for (const Part& part : description().parts) {
    if (part.as<op::Mix>() != nullptr) attentions_.at(part.name)->start_step(step);
  }
}

// The first embedding is a layer of its own; a class token that joins there is not.
std::vector<ModelTensor> Classifier::tensors() const {
  const Description& model = description();
  std::vector<ModelTensor> all;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const TensorShape& shape = model.tensors[i];
    all.push_back({shape.name, tensors_[i], shape.kind, shape.decays, false,
                   layers_behind(model, shape.place)});
  }
  for (const Part& part : model.parts) {
    const bool first = part.place == Place{0, -1} && part.as<op::ClassToken>() == nullptr;
    for (const int index : part.tensors) all[index].layers_behind += first ? 1 : 0;
  }
  for (const int index : model.head().tensors) all[index].head = true;
  return all;
}

}  // namespace soft
