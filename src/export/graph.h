// An ONNX graph under construction. Only graph.cpp knows ONNX's own types; everything else speaks
// of values and nodes.
//
//   OnnxGraph graph;
//   const auto x = graph.input("pictures", {kAnyBatch, 3, 224, 224});
//   graph.output("logits", graph.product(x, weight), {kAnyBatch, 1000});
//   graph.write("model.onnx", metadata);
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace soft {

constexpr int64_t kAnyBatch = -1;  // the one dimension that a graph leaves open
constexpr int kOnnxOpset = 17;

class OnnxGraph {
 public:
  using Value = std::string;  // what a node's output is called
  using Shape = std::vector<int64_t>;
  using Setting = std::variant<int64_t, float, Shape, std::string>;
  using Settings = std::vector<std::pair<const char*, Setting>>;

  OnnxGraph();
  ~OnnxGraph();
  OnnxGraph(const OnnxGraph&) = delete;
  OnnxGraph& operator=(const OnnxGraph&) = delete;

  Value input(const std::string& name, const Shape& shape);
  void output(const std::string& name, const Value& value, const Shape& shape);

  // Stored numbers. A name may be given once; scalars and shapes are stored once each.
  Value tensor(const std::string& name, const std::vector<float>& values, const Shape& shape);
  Value bytes(const std::string& name, const std::vector<int8_t>& values, const Shape& shape);
  Value scalar(float value);
  std::string fresh(const std::string& word);  // a name that no other value has
  Value integers(const Shape& values);
  Value identity(int64_t side);  // [side, side]

  // Any operation with one output.
  Value node(const char* operation, const std::vector<Value>& inputs,
             const Settings& settings = {});

  // ---- What the models are made of
  Value add(const Value& a, const Value& b) { return node("Add", {a, b}); }
  Value subtract(const Value& a, const Value& b) { return node("Sub", {a, b}); }
  Value times(const Value& a, const Value& b) { return node("Mul", {a, b}); }
  Value divided(const Value& a, const Value& b) { return node("Div", {a, b}); }
  Value product(const Value& a, const Value& b) { return node("MatMul", {a, b}); }
  Value transposed(const Value& x, const Shape& axes);
  Value reshaped(const Value& x, const Shape& shape);  // 0 keeps a dimension, -1 is what is left
  Value sliced(const Value& x, int64_t axis, int64_t begin, int64_t end);
  Value joined(const std::vector<Value>& parts, int64_t axis);
  Value summed(const Value& x, int64_t axis);   // keeps the axis
  Value largest(const Value& x, int64_t axis);  // likewise
  Value softmax(const Value& x);                // over the last axis
  Value layer_norm(const Value& x, const Value& gamma, const Value& beta, float epsilon);
  // Stored bytes times the scales [shape[axis]] of one axis.
  Value dequantized(const Value& bytes, const Value& scales, int64_t axis);
  // x as bytes 0 to 255 can tell it, scale·(byte - zero): the pair of nodes by which runtimes know
  // a product of bytes.
  Value rounded(const Value& x, float scale, uint8_t zero);
  // The same over each row's own values and 0, byte - zero and scale apart: a runtime that meets a
  // product of floats and dequantised bytes may round the floats in a way of its own.
  struct RoundedRows {
    Value steps, scale;
  };
  RoundedRows rounded_rows(const Value& x);
  Value floats(const Value& bytes);
  Value erf_gelu(const Value& x);
  Value tanh_gelu(const Value& x);

  // Writes the model with its metadata, and says how many bytes; the file appears whole or not at
  // all.
  int64_t write(const std::string& path, const std::map<std::string, std::string>& metadata) const;
  // ONNX's own checker, shape inference included; throws what it objects to.
  void check() const;
  int64_t nodes() const;

 private:
  struct Model;
  std::unique_ptr<Model> model_;
  void store(const std::string& name, int type, const void* values, size_t bytes,
             const Shape& shape);

  std::map<float, Value> scalars_;
  std::map<uint8_t, Value> zeros_;
  std::map<Shape, Value> shapes_;
  std::map<int64_t, Value> identities_;
  int64_t nodes_ = 0;
};

}  // namespace soft
