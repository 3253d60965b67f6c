#include "model/described_model.h"

#include <set>
#include <utility>

#include "attention/torch.h"
#include "model/init.h"

namespace soft {
namespace {

using torch::Tensor;

// "block1.0.att" and "ff1" of "block1.0.att.ff1".
std::pair<std::string, std::string> split_name(const std::string& name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos) return {"", name};
  return {name.substr(0, dot), name.substr(dot + 1)};
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

DescribedModel::Route::Route(Description description)
    : model(std::move(description)),
      last_use(model.parts.size()),
      layers(layers_to_recompute(model)) {
  for (size_t i = 0; i < model.parts.size(); ++i) {
    for (const int input : model.parts[i].inputs) last_use[input] = static_cast<int>(i);
  }
}

DescribedModel::DescribedModel(const std::string& name, Description description)
    : torch::nn::Module(name), own_(std::make_shared<const Route>(std::move(description))) {
  make_tensors();
  initialise(own_->model, tensors_);
}

void DescribedModel::make_tensors() {
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

Tensor DescribedModel::held(const TensorShape& shape, const Tensor& value) {
  const auto [path, leaf] = split_name(shape.name);
  return shape.trained() ? group(path).register_parameter(leaf, value)
                         : group(path).register_buffer(leaf, value);
}

// The module at this path, made with all above it where it is missing.
torch::nn::Module& DescribedModel::group(const std::string& path) {
  if (path.empty()) return *this;
  const auto found = groups_.find(path);
  if (found != groups_.end()) return *found->second;
  const auto [above, leaf] = split_name(path);
  const auto made = group(above).register_module(leaf, std::make_shared<torch::nn::Module>(leaf));
  groups_[path] = made;
  return *made;
}

PartRun DescribedModel::part_run(const Part& part) {
  PartRun run{part, {}, nullptr, is_training(), drop_};
  for (const int index : part.tensors) run.tensors.push_back(tensors_[index]);
  if (part.as<op::Mix>() != nullptr) run.attention = attentions_.at(part.name).get();
  return run;
}

// Values go as soon as no later part reads them.
void DescribedModel::run_part(int part, const Route& route, const Input& input,
                              std::vector<Tensor>& values) {
  const Part& own = route.model.parts[part];
  std::vector<Tensor> inputs;
  for (const int from : own.inputs) inputs.push_back(values[from]);
  for (const int from : own.inputs) {
    if (route.last_use[from] == part) values[from] = Tensor();
  }
  values[part] = run(part_run(own), inputs, input);
}

Tensor DescribedModel::run_parts(const Route& route, const Input& input, const Watch& watch) {
  const auto count = static_cast<int>(route.model.parts.size());
  std::vector<Tensor> values(count);
  const bool twice = recompute_ && is_training() && torch::GradMode::is_enabled() && !watch;
  auto layer = twice ? route.layers.begin() : route.layers.end();
  for (int i = 0; i < count; ++i) {
    if (watch && !watch(i, values)) return {};
    if (layer != route.layers.end() && layer->begin == i) {
      run_twice(*layer, route, input, values);
      i = (layer++)->end - 1;
    } else {
      run_part(i, route, input, values);
    }
  }
  return values.back();
}

// The way back may begin when the model has long seen another size: the layer holds its route.
void DescribedModel::run_twice(const Stretch& layer, const Route& route, const Input& input,
                               std::vector<Tensor>& values) {
  const auto body = [this, layer, input, held = route.shared_from_this()](const auto& inputs) {
    std::vector<Tensor> own(layer.end);
    for (size_t i = 0; i < inputs.size(); ++i) own[layer.inputs[i]] = inputs[i];
    for (int i = layer.begin; i < layer.end; ++i) run_part(i, *held, input, own);
    std::vector<Tensor> outputs;
    for (const int output : layer.outputs) outputs.push_back(own[output]);
    return outputs;
  };
  std::vector<Tensor> inputs, trained;
  for (const int from : layer.inputs) inputs.push_back(values[from]);
  std::set<int> read;  // parts may share a tensor
  for (int i = layer.begin; i < layer.end; ++i) {
    for (const int index : route.model.parts[i].tensors) {
      if (tensors_[index].requires_grad() && read.insert(index).second) {
        trained.push_back(tensors_[index]);
      }
    }
  }
  const std::vector<Tensor> outputs = recomputed(body, inputs, trained);
  for (size_t i = 0; i < outputs.size(); ++i) values[layer.outputs[i]] = outputs[i];
  for (const int from : layer.inputs) {
    if (route.last_use[from] < layer.end) values[from] = Tensor();
  }
}

Tensor DescribedModel::value_of(int part, const Route& route, const Input& input) {
  Tensor value;
  run_parts(route, input, [&](int next, const std::vector<Tensor>& values) {
    if (next == part + 1) value = values[part];
    return next <= part;
  });
  return value;
}

void DescribedModel::start_step(int64_t step) {
  for (const Part& part : description().parts) {
    if (part.as<op::Mix>() != nullptr) attentions_.at(part.name)->start_step(step);
  }
}

// The first embedding is a layer of its own; a class token that joins there is not.
std::vector<ModelTensor> DescribedModel::tensors() const {
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
