// Writes descriptions: a family of models is a function that calls these in the order of its own
// forward pass. Every function that makes a part returns its index, declares the tensors that it
// names unless they are there (so that a second part may share them), and knows shape and cost.
//
//   Builder net;
//   net.at({0, -1});
//   int x = net.convolution(net.pixels(image), "stem.0", {3, 64, 7, 2, 3});
//
// Files hold tensors in the order in which they were declared; where a family's files differ from
// its forward pass, it declares first (declare, declare_linear, …) and makes the parts afterwards.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "describe/description.h"

namespace soft {

class Builder {
 public:
  // What is declared and made from now on stands here.
  void at(Place place) { place_ = place; }
  // What new weights of convolutions and linear layers start with from now on, and linear biases.
  void start_with(Start convolutions, Start linears, Start linear_biases = Start::kZeros) {
    convolutions_ = convolutions;
    linears_ = linears;
    linear_biases_ = linear_biases;
  }
  // What is made from now on runs so many times for one sample.
  void repeated(int times) { times_ = times; }

  // ---- Parts
  int pixels(Grid image);
  // `norm` names the batch norm that follows, if the convolution has one.
  int convolution(int map, const std::string& name, const op::Convolution& convolution,
                  const std::string& norm = "");
  int linear(int x, const std::string& name, int64_t out, bool bias = true);
  int layer_norm(int x, const std::string& name, double epsilon);
  int flatten(int map);
  int unflatten(int tokens, const op::Unflatten& unflatten);
  int class_token(int tokens, const std::string& name, bool of_sequences = false);
  int position(int tokens, const std::string& name, const op::Position& position);
  int slice(int x, const op::Slice& slice);
  int mix(const std::vector<int>& query_key_value, const std::string& name, const op::Mix& mix);
  int activate(int x, Curve curve);
  int residual(int x, int branch, const op::Residual& residual);
  int pool(int tokens, const op::Pool& pool);
  int batch_norm(int map, const std::string& name, Curve after = Curve::kNone);
  int window_pool(int map, const op::WindowPool& pool);
  int global_mean(int map);
  int combine(int a, int b, How how);
  int stored(const std::string& name, const std::vector<int64_t>& shape, const op::Stored& stored,
             Start start);
  int constant(const std::vector<float>& values, const std::vector<int64_t>& shape);
  int reshape(int x, const std::vector<int64_t>& shape);
  int permute(int x, const std::vector<int64_t>& axes);
  int join(const std::vector<int>& parts, int64_t axis);
  int pad(int map, const op::Pad& pad);
  int unfold(int map, const op::Unfold& unfold);
  int product(int a, int b, const op::Product& product);
  int softmax(int x, int64_t axis);
  int reduce(int x, const op::Reduce& reduce, Wide macs = 0);  // of the products that it sums
  int lookup(int64_t length, const std::string& name, const std::vector<int64_t>& table);
  int order(int tokens, const std::string& name, int64_t rows);
  int dropout(int x, double rate);  // x itself where nothing is dropped
  int pair(int x);

  // ---- Tensors
  int declare(TensorShape tensor);  // its index; `place` is filled in
  std::vector<int> declare_linear(const std::string& name, const op::Linear& linear);
  std::vector<int> declare_norm(const std::string& name, int64_t dim);
  std::vector<int> declare_batch_norm(const std::string& name, int64_t dim);
  std::vector<int> declare_mix(const std::string& name, const AttentionSpec& spec);

  // ---- What is there
  const std::vector<int64_t>& shape(int part) const { return result_.parts.at(part).shape; }
  Grid grid(int map) const { return {shape(map)[1], shape(map)[2]}; }
  void end_stage(const StageOutline& stage) { result_.stages.push_back(stage); }
  // Counts memory for a part inside a layer.
  void alive(int part, Wide floats) { result_.parts.at(part).cost.floats = floats; }

  Description take() { return std::move(result_); }
  Description& result() { return result_; }

 private:
  int add(Part part);

  Description result_;
  std::map<std::string, int> known_;  // declared tensors
  Place place_;
  Start convolutions_ = Start::kUniform, linears_ = Start::kNormal, linear_biases_ = Start::kZeros;
  int times_ = 1;
};

}  // namespace soft
