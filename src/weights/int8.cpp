#include "weights/int8.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "base/error.h"
#include "weights/dtype.h"

namespace soft {
namespace {

constexpr std::string_view kWeight = ".weight";

// Far beyond anything that a model has, and far from where floats give up.
constexpr float kSmallestScale = 1e-30f, kLargestScale = 1e6f;
constexpr float kNarrowestRange = 1e-20f, kWidestRange = 1e9f;

std::string layer_of(const std::string& weight) {
  return weight.substr(0, weight.size() - kWeight.size());
}

bool names_a_weight(const std::string& name) {
  return name.size() > kWeight.size() &&
         name.compare(name.size() - kWeight.size(), kWeight.size(), kWeight) == 0;
}

// The tensor's floats where it is there and of that shape; otherwise says so.
std::string floats_of(const Weights& weights, const std::string& name, int64_t count,
                      std::vector<float>& values) {
  const auto found = weights.tensors.find(name);
  if (found == weights.tensors.end()) return "missing " + name;
  const TensorView& view = found->second;
  if (!is_floating(view.type) || view.shape != std::vector<int64_t>{count}) {
    return fmt::format("{} is not {} floating-point numbers", name, count);
  }
  if (view.data != nullptr) values = to_floats(view);
  return "";
}

std::string scale_defect(const std::string& name, const std::vector<float>& scales) {
  for (const float scale : scales) {
    if (scale >= kSmallestScale && scale <= kLargestScale) continue;  // NaN is neither
    return fmt::format("{} holds {}, no scale", name, scale);
  }
  return "";
}

std::string range_defect(const std::string& name, const std::vector<float>& range) {
  if (range.empty()) return "";
  const bool sound = range[0] <= 0 && range[1] >= 0 && range[1] - range[0] >= kNarrowestRange &&
                     range[1] - range[0] <= kWidestRange;
  return sound ? "" : fmt::format("{} holds {} to {}, no range", name, range[0], range[1]);
}

std::string mean_defect(const std::string& name, const std::vector<float>& mean) {
  for (const float value : mean) {
    if (std::abs(value) <= kWidestRange) continue;  // NaN is not
    return fmt::format("{} holds {}, no mean", name, value);
  }
  return "";
}

// Rows of a linear layer may each have their own range.
bool has_range(const Weights& weights, const std::string& weight) {
  return weights.tensors.at(weight).shape.size() > 2 ||
         weights.tensors.count(int8_range_name(weight)) > 0;
}

bool has_mean(const Weights& weights, const std::string& weight) {
  return !has_range(weights, weight) && weights.tensors.count(int8_mean_name(weight)) > 0;
}

}  // namespace

std::string int8_scale_name(const std::string& weight) { return weight + "_scale"; }
std::string int8_range_name(const std::string& weight) { return layer_of(weight) + ".input_range"; }
std::string int8_mean_name(const std::string& weight) { return layer_of(weight) + ".input_mean"; }

std::vector<std::string> int8_companions(const Weights& weights, const std::string& weight) {
  std::vector<std::string> names{int8_scale_name(weight)};
  if (has_range(weights, weight)) names.push_back(int8_range_name(weight));
  if (has_mean(weights, weight)) names.push_back(int8_mean_name(weight));
  return names;
}

bool is_int8(const Weights& weights, const std::string& weight) {
  const auto found = weights.tensors.find(weight);
  if (found == weights.tensors.end() || found->second.type != DType::kI8) return false;
  return names_a_weight(weight) && found->second.shape.size() >= 2 &&
         weights.tensors.count(layer_of(weight) + ".bias") > 0;
}

bool has_int8(const Weights& weights) {
  return std::any_of(weights.tensors.begin(), weights.tensors.end(),
                     [](const auto& tensor) { return tensor.second.type == DType::kI8; });
}

std::string int8_defect(const Weights& weights, const std::string& weight) {
  std::vector<float> scale, range, mean;
  const std::vector<int64_t>& shape = weights.tensors.at(weight).shape;
  if (weights.tensors.at(weight).elements() == 0) return weight + " holds nothing";
  std::string defect = floats_of(weights, int8_scale_name(weight), shape[0], scale);
  if (defect.empty() && has_range(weights, weight)) {
    defect = floats_of(weights, int8_range_name(weight), 2, range);
  }
  if (defect.empty() && has_mean(weights, weight)) {
    defect = floats_of(weights, int8_mean_name(weight), shape[1], mean);
  }
  if (defect.empty()) defect = scale_defect(int8_scale_name(weight), scale);
  if (defect.empty()) defect = range_defect(int8_range_name(weight), range);
  if (defect.empty()) defect = mean_defect(int8_mean_name(weight), mean);
  return defect;
}

Int8Layer int8_layer(const Weights& weights, const std::string& weight) {
  const std::string defect = int8_defect(weights, weight);
  if (!defect.empty()) fail("'{}' is no file of int8 weights: {}", weights.path, defect);
  Int8Layer layer{reinterpret_cast<const int8_t*>(weights.tensors.at(weight).data),
                  to_floats(weights.tensors.at(int8_scale_name(weight))),
                  {},
                  {}};
  if (has_range(weights, weight)) {
    const std::vector<float> range = to_floats(weights.tensors.at(int8_range_name(weight)));
    layer.range = {range[0], range[1]};
  }
  if (has_mean(weights, weight)) layer.mean = to_floats(weights.tensors.at(int8_mean_name(weight)));
  return layer;
}

void copy_floats(const Weights& weights, const std::string& name, float* out) {
  const TensorView& view = weights.tensors.at(name);
  if (!is_int8(weights, name)) return copy_floats(view, out);
  const Int8Layer layer = int8_layer(weights, name);
  const int64_t count = view.elements(), each = count / view.shape[0];
  for (int64_t i = 0; i < count; ++i) {
    out[i] = layer.scale[i / each] * static_cast<float>(layer.weight[i]);
  }
}

Weights dequantized(const Weights& weights) {
  using Memory = std::deque<std::vector<float>>;
  const auto memory = std::make_shared<Memory>();
  Weights floats = weights;
  for (const auto& [name, view] : weights.tensors) {
    if (!is_int8(weights, name)) continue;
    memory->emplace_back(view.elements());
    copy_floats(weights, name, memory->back().data());
    floats.tensors[name] = {DType::kF32, view.shape,
                            reinterpret_cast<const uint8_t*>(memory->back().data())};
    for (const std::string& other : int8_companions(weights, name)) floats.tensors.erase(other);
  }
  using Kept = std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>;
  floats.storage = std::make_shared<Kept>(weights.storage, memory);
  return floats;
}

}  // namespace soft
