// The description's parts as ONNX nodes, one after the other. Maps are [N, C, H, W], tokens [N, n,
// C]; what is the same for every sample has a batch of 1.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "describe/description.h"
#include "export/graph.h"
#include "weights/int8.h"
#include "weights/weights.h"

namespace soft {

class OnnxWalk {
 public:
  using Value = OnnxGraph::Value;
  using Shape = OnnxGraph::Shape;

  OnnxWalk(OnnxGraph& graph, const Weights& weights, const Description& model)
      : graph_(graph), weights_(weights), model_(model) {}

  Value run() {
    for (const Part& part : model_.parts) {
      part_ = &part;
      values_.push_back(
          std::visit([this](const auto& operation) { return emit(operation); }, part.operation));
    }
    return values_.back();
  }

 private:
  Value input(size_t index = 0) const { return values_.at(part_->inputs.at(index)); }
  const Shape& input_shape() const { return model_.parts[part_->inputs[0]].shape; }
  const TensorShape& info(size_t index) const { return model_.tensors[part_->tensors.at(index)]; }
  std::vector<float> floats(size_t index) const {
    std::vector<float> values(info(index).elements());
    copy_floats(weights_, info(index).name, values.data());
    return values;
  }
  Value stored(size_t index) { return stored(info(index).name, floats(index), info(index).shape); }
  // A tensor that several parts share is stored once.
  Value stored(const std::string& name, const std::vector<float>& values, const Shape& shape) {
    if (known_.insert(name).second) graph_.tensor(name, values, shape);
    return name;
  }

  Value emit(const op::Pixels&) {
    Shape shape{kAnyBatch};
    shape.insert(shape.end(), part_->shape.begin(), part_->shape.end());
    return graph_.input("pictures", shape);
  }
  Value emit(const op::Convolution& conv);
  Value emit(const op::Linear& linear);
  Value emit(const op::LayerNorm& norm) {
    return graph_.layer_norm(input(), stored(0), stored(1), static_cast<float>(norm.epsilon));
  }
  Value emit(const op::Flatten&) {
    const Shape& map = input_shape();
    return graph_.transposed(graph_.reshaped(input(), {0, map[0], map[1] * map[2]}), {0, 2, 1});
  }
  Value emit(const op::Unflatten& map);
  Value emit(const op::ClassToken&);
  Value emit(const op::Position& position);
  Value emit(const op::Slice& slice) {
    return graph_.sliced(input(), slice.axis + 1, slice.begin, slice.begin + slice.length);
  }
  Value emit(const op::Mix& mix);
  Value emit(const op::Activate& activate) { return curve(activate.curve, input()); }
  Value emit(const op::Residual&) { return graph_.add(input(0), input(1)); }
  Value emit(const op::Pool& pool);

  Value emit(const op::BatchNorm& norm);
  Value emit(const op::WindowPool& pool);
  Value emit(const op::GlobalMean&) { return graph_.node("GlobalAveragePool", {input()}); }
  Value emit(const op::Combine& combine) {
    constexpr const char* kNames[] = {"Add", "Sub", "Mul"};
    return graph_.node(kNames[static_cast<int>(combine.how)], {aligned(0), aligned(1)});
  }
  Value emit(const op::Stored& stored);
  Value emit(const op::Constant& constant) {
    return graph_.tensor(graph_.fresh("constant"), constant.values, batched(1, part_->shape));
  }
  Value emit(const op::Reshape&) { return graph_.reshaped(input(), batched(0, part_->shape)); }
  Value emit(const op::Permute& permute) {
    Shape axes{0};
    for (const int64_t axis : permute.axes) axes.push_back(axis + 1);
    return graph_.transposed(input(), axes);
  }
  Value emit(const op::Join& join);
  Value emit(const op::Pad& pad);
  Value emit(const op::Unfold& unfold);
  Value emit(const op::Product& product);
  Value emit(const op::Softmax& softmax) {
    const int64_t axis = softmax.axis < 0 ? softmax.axis : softmax.axis + 1;
    return graph_.node("Softmax", {input()}, {{"axis", axis}});
  }
  Value emit(const op::Dropout&) { return input(); }
  Value emit(const op::Lookup&) { return refused(); }
  Value emit(const op::Order&) { return refused(); }
  Value emit(const op::Pair&) { return refused(); }
  Value emit(const op::Reduce& reduce) {
    Value sum = graph_.summed(input(), reduce.axis + 1);
    if (!reduce.mean) return sum;
    return graph_.divided(sum, graph_.scalar(static_cast<float>(input_shape()[reduce.axis])));
  }

  [[noreturn]] Value refused() const;
  static Shape batched(int64_t batch, Shape shape) {
    shape.insert(shape.begin(), batch);
    return shape;
  }
  // Missing axes go behind the batch.
  Value aligned(size_t index) {
    Shape shape = model_.parts[part_->inputs[index]].shape;
    const size_t missing = part_->shape.size() - shape.size();
    if (missing == 0) return input(index);
    shape.insert(shape.begin(), missing, 1);
    return graph_.reshaped(input(index), batched(0, shape));
  }
  // Whether a value is the same for every sample, and hence has a batch of 1.
  bool is_fixed(int part) const {
    const Part& p = model_.parts[part];
    if (p.as<op::Pixels>() != nullptr) return false;
    return std::all_of(p.inputs.begin(), p.inputs.end(), [&](int i) { return is_fixed(i); });
  }

  // The weight of a layer of bytes, [out, …] or turned to [in, out], its scales times `factors`
  // [out]; and its input as bytes can tell it.
  Value byte_weight(const Int8Layer& layer, const std::vector<float>& factors, bool turned);
  Value byte_input(const Int8Layer& layer);
  // input() times the layer's weight where each row has a range of its own.
  Value row_product(const op::Linear& linear, const Int8Layer& layer);
  Value curve(Curve curve, const Value& x);
  Value split_heads(const op::Mix& mix, const Value& x);
  Value with_value_path(const op::Mix& mix, const Value& y, const Value& v);
  Value mixer_tensor(const op::Mix& mix, const std::string& name);

  OnnxGraph& graph_;
  const Weights& weights_;
  const Description& model_;
  const Part* part_ = nullptr;
  std::vector<Value> values_;
  std::set<std::string> known_;
  std::map<std::string, Value> byte_weights_;  // by the tensor's name
};

}  // namespace soft
