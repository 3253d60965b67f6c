// Tensors of a file, one after another, in the layouts that oneDNN reads: what engine/pack.cpp asks
// for.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "describe/description.h"
#include "engine/network.h"
#include "weights/int8.h"

namespace soft {

constexpr int64_t kTypicalRows = 96;  // of a tile; the packed layout hardly depends on it

// A linear layer that becomes a block of rows of a larger one, times `scale`.
struct LinearBlock {
  const Part* part;
  float scale = 1;
};

// Tensors of a file, in the layouts that oneDNN reads.
class Packer {
 public:
  Packer(const Weights& weights, const Description& model, LinearForm form, const InputWatch& watch)
      : weights_(weights), model_(model), form_(resolve(form)), watch_(watch) {}

  std::vector<float> floats(const TensorShape& tensor) const {
    std::vector<float> values = to_floats(weights_.tensors.at(tensor.name));
    check_finite(tensor.name, values.data(), static_cast<int64_t>(values.size()));
    return values;
  }
  std::vector<float> floats(const Part& part, size_t index) const {
    return floats(tensor(part, index));
  }

  Norm norm(const Part& part) const {
    const auto epsilon = static_cast<float>(part.as<op::LayerNorm>()->epsilon);
    return {floats(part, 0), floats(part, 1), epsilon};
  }

  // Linear layers of one input side by side: [in] -> [out of the first | out of the second | …].
  Dense linear(const std::vector<LinearBlock>& blocks) {
    if (all_int8(blocks)) return int8_linear(blocks);
    std::vector<float> bias;
    int64_t elements = 0;
    for (const LinearBlock& block : blocks) {
      for (float value : bias_of(*block.part)) bias.push_back(block.scale * value);
      const TensorShape& weight = tensor(*block.part, 0);
      float* values = stage(weight, elements);
      if (block.scale != 1) scale_by(values, weight.elements(), block.scale);
      elements += weight.elements();
    }
    Dense dense = pack_dense(linear_shape(blocks, bias.size()), {kTypicalRows, 1}, staging_.data(),
                             bias.data());
    watch(dense, blocks);
    return dense;
  }

  Dense convolution(const Part& part) {
    const op::Convolution& conv = *part.as<op::Convolution>();
    const bool relu = conv.after == Curve::kRelu;
    return convolution(part, {conv.in, conv.out, conv.kernel, conv.stride, conv.padding, relu});
  }

  // BN's running statistics are folded into the convolution.
  Dense convolution(const Part& part, const DenseShape& shape) {
    const op::Convolution& conv = *part.as<op::Convolution>();
    std::vector<float> bias = bias_of(part), factor(bias.size(), 1.0f);
    if (conv.batch_norm) fold_batch_norm(part, factor, bias);
    const std::vector<int64_t>& map = model_.parts[part.inputs[0]].shape;  // [C, H, W]
    if (is_int8(weights_, tensor(part, 0).name)) return int8_convolution(part, shape, factor, bias);
    float* weight = stage(tensor(part, 0), 0);
    const int64_t taps = conv.in * conv.kernel * conv.kernel;
    for (int64_t c = 0; c < conv.out; ++c) scale_by(weight + c * taps, taps, factor[c]);
    Dense dense = pack_dense(shape, {map[1], map[2]}, weight, bias.data());
    watch(dense, {{&part}});
    return dense;
  }

 private:
  const TensorShape& tensor(const Part& part, size_t index) const {
    return model_.tensors[part.tensors.at(index)];
  }

  // Zeros where a layer has none: oneDNN's always have one.
  std::vector<float> bias_of(const Part& part) const {
    const auto* conv = part.as<op::Convolution>();
    const auto* linear = part.as<op::Linear>();
    if (conv != nullptr ? conv->bias : linear->bias) return floats(part, 1);
    return std::vector<float>(conv != nullptr ? conv->out : linear->out);
  }

  DenseShape linear_shape(const std::vector<LinearBlock>& blocks, size_t out) const {
    return {blocks.front().part->as<op::Linear>()->in,
            static_cast<int64_t>(out),
            1,
            1,
            0,
            false,
            form_};
  }

  bool all_int8(const std::vector<LinearBlock>& blocks) const {
    return std::all_of(blocks.begin(), blocks.end(), [&](const LinearBlock& block) {
      return is_int8(weights_, tensor(*block.part, 0).name);
    });
  }

  Dense int8_linear(const std::vector<LinearBlock>& blocks) const {
    std::vector<int8_t> bytes;
    std::vector<float> scale, bias;
    const std::string& first_name = tensor(*blocks.front().part, 0).name;
    const Int8Layer first = int8_layer(weights_, first_name);
    for (const LinearBlock& block : blocks) {
      const TensorShape& weight = tensor(*block.part, 0);
      const Int8Layer layer = int8_layer(weights_, weight.name);
      if (!(layer.range == first.range && layer.mean == first.mean)) {
        fail("{} and {} in '{}' read the same input, but their {} differs", first_name, weight.name,
             weights_.path, layer.range == first.range ? "input_mean" : "input_range");
      }
      bytes.insert(bytes.end(), layer.weight, layer.weight + weight.elements());
      for (const float value : layer.scale) scale.push_back(block.scale * value);
      for (const float value : bias_of(*block.part)) bias.push_back(block.scale * value);
    }
    return pack_dense(linear_shape(blocks, bias.size()),
                      Int8Source{bytes.data(), scale.data(), bias.data(), scale_of(first),
                                 first.mean.empty() ? nullptr : first.mean.data()});
  }

  static std::optional<ByteScale> scale_of(const Int8Layer& layer) {
    if (!layer.range) return {};
    return byte_scale(layer.range->lowest, layer.range->highest);
  }

  Dense int8_convolution(const Part& part, const DenseShape& shape,
                         const std::vector<float>& factor, const std::vector<float>& bias) const {
    Int8Layer layer = int8_layer(weights_, tensor(part, 0).name);
    for (int64_t c = 0; c < shape.out; ++c) layer.scale[c] *= factor[c];
    return pack_dense(shape,
                      Int8Source{layer.weight, layer.scale.data(), bias.data(), scale_of(layer)});
  }

  // Layers are known by their weights' names, "X.weight" being X's.
  void watch(Dense& dense, const std::vector<LinearBlock>& blocks) const {
    if (!watch_) return;
    std::vector<std::string> names;
    for (const LinearBlock& block : blocks) {
      const std::string& weight = tensor(*block.part, 0).name;
      names.push_back(weight.substr(0, weight.rfind('.')));
    }
    dense.watch = [names, channels = dense.shape.in, see = watch_](
                      const float* input, int64_t rows) { see(names, input, rows, channels); };
  }

  void fold_batch_norm(const Part& part, std::vector<float>& factor,
                       std::vector<float>& bias) const {
    const size_t norm = part.as<op::Convolution>()->bias ? 2 : 1;
    const std::vector<float> gamma = floats(part, norm), beta = floats(part, norm + 1);
    const std::vector<float> mean = floats(part, norm + 2), variance = floats(part, norm + 3);
    for (size_t c = 0; c < bias.size(); ++c) {
      factor[c] = gamma[c] / std::sqrt(variance[c] + static_cast<float>(kBatchNormEpsilon));
      bias[c] = (bias[c] - mean[c]) * factor[c] + beta[c];
    }
  }

  // A ReLU of oneDNN turns NaN into 0, so that a damaged file would give plausible logits.
  void check_finite(const std::string& name, const float* values, int64_t count) const {
    bool finite = true;
    for (int64_t i = 0; i < count; ++i) finite &= std::abs(values[i]) <= FLT_MAX;
    if (!finite) fail("{} in '{}' holds values that are not finite", name, weights_.path);
  }

  // The tensor as float32 at this offset of the staging memory.
  float* stage(const TensorShape& tensor, int64_t offset) {
    const auto end = static_cast<size_t>(offset + tensor.elements());
    if (staging_.size() < end) staging_.resize(end);
    copy_floats(weights_, tensor.name, staging_.data() + offset);
    check_finite(tensor.name, staging_.data() + offset, tensor.elements());
    return staging_.data() + offset;
  }

  static void scale_by(float* values, int64_t count, float factor) {
    for (int64_t i = 0; i < count; ++i) values[i] *= factor;
  }

  const Weights& weights_;
  const Description& model_;
  LinearForm form_;
  const InputWatch& watch_;
  std::vector<float> staging_;
};

}  // namespace soft
