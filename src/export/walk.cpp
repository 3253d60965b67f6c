// The operations of SOFT's own models.
#include "export/walk.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "describe/positions.h"
#include "export/mix.h"
#include "kernels/quantize.h"
#include "spec/landmark_count.h"
#include "weights/fold.h"

namespace soft {
namespace {

using Value = OnnxGraph::Value;
using Shape = OnnxGraph::Shape;

template <class T>
std::vector<T> transposed(const std::vector<T>& matrix, int64_t rows, int64_t columns) {
  std::vector<T> turned(matrix.size());
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) turned[c * rows + r] = matrix[r * columns + c];
  }
  return turned;
}

std::vector<float> repeated(const std::vector<float>& values, int64_t times) {
  std::vector<float> all;
  for (int64_t i = 0; i < times; ++i) all.insert(all.end(), values.begin(), values.end());
  return all;
}

// What the mean that was taken off adds to every row.
std::vector<float> of_mean(const op::Linear& linear, const Int8Layer& layer) {
  std::vector<float> sums(linear.out);
  for (int64_t o = 0; o < linear.out; ++o) {
    double sum = 0;
    for (int64_t i = 0; i < linear.in; ++i) {
      sum += static_cast<double>(layer.mean[i]) * layer.weight[o * linear.in + i];
    }
    sums[o] = static_cast<float>(layer.scale[o] * sum);
  }
  return sums;
}

}  // namespace

Value OnnxWalk::refused() const {
  fail_usage("ONNX files are written of models that see pictures, and {} is no part of those",
             name_of(part_->operation));
}

Value OnnxWalk::curve(Curve curve, const Value& x) {
  switch (curve) {
    case Curve::kNone:
      return x;
    case Curve::kRelu:
      return graph_.node("Relu", {x});
    case Curve::kTanhGelu:
      return graph_.tanh_gelu(x);
    case Curve::kErfGelu:
      return graph_.erf_gelu(x);
    case Curve::kSilu:
      return graph_.times(x, graph_.node("Sigmoid", {x}));
    case Curve::kSigmoid:
      return graph_.node("Sigmoid", {x});
  }
  return x;
}

// A scale must be positive: a channel that batch norm turns over has its bytes turned instead.
Value OnnxWalk::byte_weight(const Int8Layer& layer, const std::vector<float>& factors,
                            bool turned) {
  const TensorShape& shape = info(0);
  Value& known = byte_weights_[shape.name];
  if (!known.empty()) return known;
  const int64_t out = shape.shape[0], each = shape.elements() / out;
  std::vector<int8_t> bytes(layer.weight, layer.weight + shape.elements());
  std::vector<float> scales(out);
  for (int64_t o = 0; o < out; ++o) {
    const float scale = layer.scale[o] * factors[o];
    scales[o] = std::max(std::abs(scale), std::numeric_limits<float>::min());
    const int sign = scale > 0 ? 1 : scale < 0 ? -1 : 0;
    for (int64_t i = 0; i < each; ++i) {
      int8_t& byte = bytes[o * each + i];
      byte = static_cast<int8_t>(std::clamp(sign * byte, -128, 127));
    }
  }
  const Value weight = turned ? graph_.bytes(shape.name, transposed(bytes, out, each), {each, out})
                              : graph_.bytes(shape.name, bytes, shape.shape);
  const Value scale = graph_.tensor(int8_scale_name(shape.name), scales, {out});
  return known = graph_.dequantized(weight, scale, turned ? 1 : 0);
}

Value OnnxWalk::byte_input(const Int8Layer& layer) {
  const ByteScale scale = byte_scale(layer.range->lowest, layer.range->highest);
  return graph_.rounded(input(), scale.scale, static_cast<uint8_t>(scale.zero));
}

Value OnnxWalk::emit(const op::Convolution& conv) {
  const bool bytes = !conv.shared && is_int8(weights_, info(0).name);
  // Of a layer in bytes one number a channel is folded: what its scale is multiplied by.
  std::vector<float> weight = bytes ? std::vector<float>(conv.out, 1) : floats(0), bias(conv.out);
  if (conv.bias) bias = floats(1);
  Shape shape = info(0).shape;
  if (conv.shared) {  // the kernel once for each group
    weight = repeated(weight, conv.groups);
    bias = repeated(bias, conv.groups);
    shape = {conv.out, conv.in / conv.groups, conv.kernel, conv.kernel};
  }
  if (conv.batch_norm) {
    const size_t first = conv.bias ? 2 : 1;
    const FoldedNorm norm{floats(first), floats(first + 1), floats(first + 2), floats(first + 3),
                          kBatchNormEpsilon};
    norm.fold_into(weight.data(), bias, static_cast<int64_t>(weight.size()) / conv.out);
  }
  Value x = input(), kernel;
  if (bytes) {
    const Int8Layer layer = int8_layer(weights_, info(0).name);
    x = byte_input(layer);
    kernel = byte_weight(layer, weight, false);
  } else {
    kernel = stored(info(0).name, weight, shape);
  }
  const int64_t k = conv.kernel, p = conv.padding;
  const Value map =
      graph_.node("Conv", {x, kernel, stored(part_->name + ".bias", bias, {conv.out})},
                  {{"kernel_shape", Shape{k, k}},
                   {"strides", Shape{conv.stride, conv.stride}},
                   {"pads", Shape{p, p, p, p}},
                   {"group", conv.groups}});
  return curve(conv.after, map);
}

// Whole numbers are multiplied, and then the scales of the row and of the channel.
Value OnnxWalk::row_product(const op::Linear& linear, const Int8Layer& layer) {
  const std::string& name = info(0).name;
  Value& known = byte_weights_[name];
  if (known.empty()) {
    const std::vector<int8_t> bytes(layer.weight, layer.weight + info(0).elements());
    const Shape turned{linear.in, linear.out};
    known = graph_.floats(graph_.bytes(name, transposed(bytes, linear.out, linear.in), turned));
    graph_.tensor(int8_scale_name(name), layer.scale, {linear.out});
  }
  Value x = input();
  if (!layer.mean.empty()) {
    x = graph_.subtract(x, stored(int8_mean_name(name), layer.mean, {linear.in}));
  }
  const auto [steps, scale] = graph_.rounded_rows(x);
  const Value y =
      graph_.times(graph_.times(graph_.product(steps, known), scale), int8_scale_name(name));
  if (layer.mean.empty()) return y;
  return graph_.add(y, stored(part_->name + ".of_mean", of_mean(linear, layer), {linear.out}));
}

Value OnnxWalk::emit(const op::Linear& linear) {
  Value y;
  if (!is_int8(weights_, info(0).name)) {
    y = graph_.product(input(), stored(info(0).name, transposed(floats(0), linear.out, linear.in),
                                       {linear.in, linear.out}));
  } else {
    const Int8Layer layer = int8_layer(weights_, info(0).name);
    const std::vector<float> ones(linear.out, 1);
    y = layer.range ? graph_.product(byte_input(layer), byte_weight(layer, ones, true))
                    : row_product(linear, layer);
  }
  return linear.bias ? graph_.add(y, stored(1)) : y;
}

Value OnnxWalk::emit(const op::Unflatten& map) {
  const auto [h, w] = map.grid;
  const Value on_grid =
      map.prefix == 0 ? input() : graph_.sliced(input(), 1, map.prefix, map.prefix + h * w);
  return graph_.reshaped(graph_.transposed(on_grid, {0, 2, 1}), {0, part_->shape[0], h, w});
}

// [1, 1, C] once for every picture: batch sizes are open, so the first token lends its shape.
Value OnnxWalk::emit(const op::ClassToken&) {
  const Value zeros = graph_.times(graph_.sliced(input(), 1, 0, 1), graph_.scalar(0));
  return graph_.joined({graph_.add(zeros, stored(0)), input()}, 1);
}

Value OnnxWalk::emit(const op::Position& position) {
  const std::vector<float> resized = resized_positions(floats(0), position);
  const int64_t dim = part_->shape.back();
  const auto rows = static_cast<int64_t>(resized.size()) / dim;
  return graph_.add(input(), stored(info(0).name, resized, {1, rows, dim}));
}

Value OnnxWalk::emit(const op::Pool& pool) {
  if (pool.first) {
    return graph_.reshaped(graph_.sliced(input(), 1, 0, 1), {0, part_->shape.back()});
  }
  return graph_.node("ReduceMean", {input()}, {{"axes", Shape{1}}, {"keepdims", int64_t{0}}});
}

Value OnnxWalk::split_heads(const op::Mix& mix, const Value& x) {  // [N, n, C] -> [N, h, n, d]
  const int64_t n = mix.prefix + mix.grid.size();
  return graph_.transposed(graph_.reshaped(x, {0, n, mix.spec.heads, mix.spec.head_dim()}),
                           {0, 2, 1, 3});
}

Value OnnxWalk::mixer_tensor(const op::Mix&, const std::string& name) {
  const TensorShape* found = model_.find(*part_, name);
  if (found == nullptr) fail("{} has no tensor {}", part_->name, name);
  return stored(found->name, to_floats(weights_.tensors.at(found->name)), found->shape);
}

// One k x k kernel per head, shared by that head's channels, on V as a map of all channels. A class
// token has no place on the grid: its value path is 0, except in soft-dense, where V itself is
// added.
Value OnnxWalk::with_value_path(const op::Mix& mix, const Value& y, const Value& v) {
  const TensorShape* found = model_.find(*part_, kValueKernelName);
  if (found == nullptr) return y;
  const int64_t dim = mix.spec.dim, d = mix.spec.head_dim(), k = mix.spec.value_kernel;
  const int64_t p = mix.prefix, n = p + mix.grid.size();
  const std::vector<float> kernels = to_floats(weights_.tensors.at(found->name));  // [h, 1, k, k]
  std::vector<float> spread;                                                       // [C, 1, k, k]
  for (int64_t c = 0; c < dim; ++c) {
    const auto first = kernels.begin() + c / d * k * k;
    spread.insert(spread.end(), first, first + k * k);
  }
  const Value on_grid = p == 0 ? v : graph_.sliced(v, 1, p, n);
  const Value map =
      graph_.reshaped(graph_.transposed(on_grid, {0, 2, 1}), {0, dim, mix.grid.h, mix.grid.w});
  const int64_t pad = k / 2;
  const Value path = graph_.node(
      "Conv", {map, stored(found->name, spread, {dim, 1, k, k})},
      {{"kernel_shape", Shape{k, k}}, {"pads", Shape{pad, pad, pad, pad}}, {"group", dim}});
  const Value tokens =
      graph_.transposed(graph_.reshaped(path, {0, dim, mix.grid.size()}), {0, 2, 1});
  if (p == 0) return graph_.add(y, tokens);
  Value front = graph_.sliced(y, 1, 0, p);
  if (mix.spec.mechanism == Mechanism::kSoftDense) {
    front = graph_.add(front, graph_.sliced(v, 1, 0, p));
  }
  return graph_.joined({front, graph_.add(graph_.sliced(y, 1, p, n), tokens)}, 1);
}

Value OnnxWalk::emit(const op::Mix& mix) {
  ExportMix request;
  request.spec = mix.spec;
  request.grid = mix.grid;
  request.prefix = mix.prefix;
  request.q = split_heads(mix, input(0));
  request.k = input(1) == input(0) ? request.q : split_heads(mix, input(1));
  request.v = split_heads(mix, input(2));
  request.landmarks = landmark_count(mix.spec, mix.grid);
  request.chosen = picked_tokens(request);
  request.stored = [&](const std::string& name) { return mixer_tensor(mix, name); };
  const Value y = graph_.transposed(export_mix(graph_, request), {0, 2, 1, 3});
  const Value merged = graph_.reshaped(y, {0, mix.prefix + mix.grid.size(), mix.spec.dim});
  return with_value_path(mix, merged, input(2));
}

}  // namespace soft
