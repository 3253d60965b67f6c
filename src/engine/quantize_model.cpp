#include "engine/quantize_model.h"

#include <algorithm>
#include <map>
#include <optional>

#include "describe/description.h"
#include "engine/dense.h"
#include "engine/feedback.h"
#include "engine/int8_weights.h"
#include "weights/int8.h"

namespace soft {
namespace {

constexpr int64_t kFewestChannels = 8;

template <class Value>
TensorView view_of(DType type, std::vector<int64_t> shape, const std::vector<Value>& values) {
  return {type, std::move(shape), reinterpret_cast<const uint8_t*>(values.data())};
}

// [out, in] or [out, in, k, k]; strides and padding do not matter to its weights.
DenseShape dense_shape(const TensorView& weight) {
  DenseShape shape;
  shape.out = weight.shape[0];
  shape.in = weight.shape[1];
  if (weight.shape.size() == 4) shape.kernel = weight.shape[2];
  return shape;
}

// bias += (W - Ŵ)·E[x]: inputs whose mean is not zero would turn roundings into a shift.
void correct(const LayerInput& input, const std::vector<float>& weight,
             const Int8Channels& channels, std::vector<float>& bias) {
  if (input.rows == 0) return;
  const size_t each = weight.size() / bias.size(), taps = each / input.sums.size();
  for (size_t o = 0; o < bias.size(); ++o) {
    double shift = 0;
    for (size_t i = 0; i < each; ++i) {
      const double rounded = static_cast<double>(channels.scale[o]) * channels.weight[o * each + i];
      shift += (weight[o * each + i] - rounded) * input.sums[i / taps];
    }
    bias[o] += static_cast<float>(shift / static_cast<double>(input.rows));
  }
}

std::vector<float> means_of(const LayerInput& input) {
  std::vector<float> means(input.sums.size());
  const double rows = static_cast<double>(std::max<int64_t>(input.rows, 1));
  for (size_t c = 0; c < means.size(); ++c) means[c] = static_cast<float>(input.sums[c] / rows);
  return means;
}

bool pays(const Weights& weights, const LayerInput& input) {
  return std::all_of(input.layers.begin(), input.layers.end(), [&](const std::string& layer) {
    return weights.tensors.at(layer + ".weight").shape[1] >= kFewestChannels;
  });
}

}  // namespace

struct QuantizedModel::Layer {
  std::string weight, bias;  // "X.weight", "X.bias"
  std::vector<int64_t> shape;
  Int8Channels channels;
  std::vector<float> corrected;  // bias, so that rounded weights answer the mean input as before
};

QuantizedModel::QuantizedModel(const Weights& weights, const std::vector<LayerInput>& inputs)
    : original_(weights) {
  for (const LayerInput& input : inputs) {
    if (!pays(weights, input)) continue;
    const auto channels = static_cast<int64_t>(input.sums.size());
    std::optional<Feedback> feedback;
    if (!input.products.empty()) feedback = factor_inputs(channels, input.products);
    inputs_.push_back(input);
    inputs_.back().products.clear();  // their work is done
    layers_.emplace_back();
    for (const std::string& name : input.layers) {
      const TensorView& view = weights.tensors.at(name + ".weight");
      const std::vector<float> values = to_floats(view);
      Layer layer{
          name + ".weight", name + ".bias", view.shape,
          quantize_weights(dense_shape(view), values.data(), feedback ? &*feedback : nullptr),
          to_floats(weights.tensors.at(name + ".bias"))};
      correct(input, values, layer.channels, layer.corrected);
      layers_.back().push_back(std::make_shared<const Layer>(std::move(layer)));
    }
  }
}

Weights QuantizedModel::weights(RangeRule rule, const std::set<size_t>& chosen) const {
  struct Memory {
    std::shared_ptr<const void> original;
    std::vector<std::shared_ptr<const Layer>> layers;
    std::map<size_t, std::vector<float>> ranges, means;
  };
  const auto memory = std::make_shared<Memory>();
  memory->original = original_.storage;
  Weights result = original_;
  for (const size_t index : chosen) {
    const InputRange range = inputs_[index].range(rule);
    const std::vector<float>& ends = memory->ranges[index] = {range.lowest, range.highest};
    const auto& layers = layers_[index];
    const bool by_rows = rule == RangeRule::kRows &&
                         std::all_of(layers.begin(), layers.end(),
                                     [](const auto& layer) { return layer->shape.size() == 2; });
    const std::vector<float>& means = memory->means[index] = means_of(inputs_[index]);
    for (const auto& layer : layers) {
      memory->layers.push_back(layer);
      const Int8Channels& channels = layer->channels;
      result.tensors[layer->weight] = view_of(DType::kI8, layer->shape, channels.weight);
      result.tensors[layer->bias] = view_of(DType::kF32, {layer->shape[0]}, layer->corrected);
      result.tensors[int8_scale_name(layer->weight)] =
          view_of(DType::kF32, {layer->shape[0]}, channels.scale);
      if (by_rows) {
        result.tensors[int8_mean_name(layer->weight)] =
            view_of(DType::kF32, {layer->shape[1]}, means);
      } else {
        result.tensors[int8_range_name(layer->weight)] = view_of(DType::kF32, {2}, ends);
      }
    }
  }
  result.storage = memory;
  return result;
}

std::vector<NamedTensor> tensors_to_write(const Weights& weights, const ModelSpec& spec) {
  std::vector<NamedTensor> tensors;
  for (const TensorShape& tensor : tensors_of(spec)) {
    const TensorView& view = weights.tensors.at(tensor.name);
    const bool sampler = tensor.name.find("Qlandmark_op") != std::string::npos;
    const bool half = sampler || tensor.name.rfind("pos_embed", 0) == 0;
    tensors.push_back({tensor.name, view, !half});
    if (!is_int8(weights, tensor.name)) continue;
    for (const std::string& name : int8_companions(weights, tensor.name)) {
      tensors.push_back({name, weights.tensors.at(name), true});
    }
  }
  return tensors;
}

}  // namespace soft
