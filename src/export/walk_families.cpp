// The operations that other families have besides.
#include <numeric>
#include <utility>

#include "base/error.h"
#include "export/walk.h"

namespace soft {

using Value = OnnxGraph::Value;
using Shape = OnnxGraph::Shape;

Value OnnxWalk::emit(const op::BatchNorm& norm) {
  const Value y =
      graph_.node("BatchNormalization", {input(), stored(0), stored(1), stored(2), stored(3)},
                  {{"epsilon", static_cast<float>(kBatchNormEpsilon)}});
  return curve(norm.after, y);
}

Value OnnxWalk::emit(const op::WindowPool& pool) {
  const int64_t k = pool.kernel, s = pool.stride, p = pool.padding;
  const Shape kernel{k, k}, strides{s, s}, pads{p, p, p, p};
  if (pool.largest) {
    return graph_.node("MaxPool", {input()},
                       {{"kernel_shape", kernel}, {"strides", strides}, {"pads", pads}});
  }
  return graph_.node("AveragePool", {input()},
                     {{"kernel_shape", kernel},
                      {"strides", strides},
                      {"pads", pads},
                      {"count_include_pad", int64_t{1}}});
}

// Rows of a table that its own size fits; a graph is made for one size of pictures.
Value OnnxWalk::emit(const op::Stored& table) {
  const std::vector<float> all = floats(0);
  const Shape& shape = info(0).shape;
  if (table.resized > 0 && table.resized != shape[0]) {
    fail_usage("{} would have to be resized for this size; export at the trained one",
               info(0).name);
  }
  if (table.rows.empty()) return stored(info(0).name, all, batched(1, shape));
  const auto width = static_cast<int64_t>(all.size()) / shape[0];
  std::vector<float> rows;
  for (const int64_t row : table.rows) {
    rows.insert(rows.end(), all.begin() + row * width, all.begin() + (row + 1) * width);
  }
  return stored(info(0).name, rows, batched(1, part_->shape));
}

// What is the same for every sample takes the batch of another input, to which it is added as zero.
Value OnnxWalk::emit(const op::Join& join) {
  std::vector<Value> parts;
  Value lead;  // [N, 1, …] of zeros
  for (size_t i = 0; i < part_->inputs.size(); ++i) {
    if (is_fixed(part_->inputs[i])) continue;
    const Shape ones(model_.parts[part_->inputs[i]].shape.size(), 1);
    const Value flat = graph_.reshaped(input(i), {0, -1});
    const Value zero = graph_.times(graph_.sliced(flat, 1, 0, 1), graph_.scalar(0));
    lead = graph_.reshaped(zero, batched(0, ones));
    break;
  }
  for (size_t i = 0; i < part_->inputs.size(); ++i) {
    const bool alone = lead.empty() || !is_fixed(part_->inputs[i]);
    parts.push_back(alone ? input(i) : graph_.add(input(i), lead));
  }
  return graph_.joined(parts, join.axis + 1);
}

Value OnnxWalk::emit(const op::Pad& pad) {
  const Value sides = graph_.integers({0, 0, pad.top, pad.left, 0, 0, pad.bottom, pad.right});
  return graph_.node("Pad", {input(), sides},
                     {{"mode", std::string(pad.reflect ? "reflect" : "constant")}});
}

// A convolution whose kernels each pick one cell of the window: [C·k², 1, k, k], a group a channel.
Value OnnxWalk::emit(const op::Unfold& unfold) {
  const int64_t k = unfold.kernel, cells = k * k, channels = input_shape()[0];
  std::vector<float> picks(channels * cells * cells);
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t i = 0; i < cells; ++i) picks[(c * cells + i) * cells + i] = 1;
  }
  const Value kernel = graph_.tensor(graph_.fresh("windows"), picks, {channels * cells, 1, k, k});
  const int64_t s = unfold.stride, p = unfold.padding;
  const Value maps = graph_.node("Conv", {input(), kernel},
                                 {{"kernel_shape", Shape{k, k}},
                                  {"strides", Shape{s, s}},
                                  {"pads", Shape{p, p, p, p}},
                                  {"group", channels}});
  return graph_.reshaped(maps, batched(0, part_->shape));
}

Value OnnxWalk::emit(const op::Product& product) {
  Value second = input(1);
  if (product.transposed) {
    Shape axes(model_.parts[part_->inputs[1]].shape.size() + 1);
    std::iota(axes.begin(), axes.end(), 0);
    std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
    second = graph_.transposed(second, axes);
  }
  const Value first = input(0);
  if (product.scale == 1) return graph_.product(first, second);
  return graph_.product(graph_.times(first, graph_.scalar(static_cast<float>(product.scale))),
                        second);
}

}  // namespace soft
