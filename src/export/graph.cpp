#include "export/graph.h"

#include <onnx/checker.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <cfloat>
#include <cmath>

#include "base/error.h"
#include "base/file.h"

namespace soft {
namespace {

// What opset 17 first came with; older runtimes than that cannot read it anyway.
constexpr int64_t kFormat = 8;
constexpr const char* kBatch = "batch";

void describe(onnx::ValueInfoProto& info, const std::string& name, const OnnxGraph::Shape& shape) {
  info.set_name(name);
  auto& type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  for (const int64_t side : shape) {
    auto& dimension = *type.mutable_shape()->add_dim();
    if (side == kAnyBatch) {
      dimension.set_dim_param(kBatch);
    } else {
      dimension.set_dim_value(side);
    }
  }
}

void set(onnx::AttributeProto& attribute, int64_t value) {
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

void set(onnx::AttributeProto& attribute, float value) {
  attribute.set_type(onnx::AttributeProto::FLOAT);
  attribute.set_f(value);
}

void set(onnx::AttributeProto& attribute, const OnnxGraph::Shape& values) {
  attribute.set_type(onnx::AttributeProto::INTS);
  for (const int64_t value : values) attribute.add_ints(value);
}

void set(onnx::AttributeProto& attribute, const std::string& value) {
  attribute.set_type(onnx::AttributeProto::STRING);
  attribute.set_s(value);
}

}  // namespace

struct OnnxGraph::Model {
  onnx::ModelProto proto;
};

OnnxGraph::OnnxGraph() : model_(std::make_unique<Model>()) {
  model_->proto.set_ir_version(kFormat);
  model_->proto.set_producer_name("soft");
  model_->proto.add_opset_import()->set_version(kOnnxOpset);
  model_->proto.mutable_graph()->set_name("soft");
}

OnnxGraph::~OnnxGraph() = default;

OnnxGraph::Value OnnxGraph::input(const std::string& name, const Shape& shape) {
  describe(*model_->proto.mutable_graph()->add_input(), name, shape);
  return name;
}

void OnnxGraph::output(const std::string& name, const Value& value, const Shape& shape) {
  onnx::GraphProto& graph = *model_->proto.mutable_graph();
  onnx::NodeProto& last = *graph.add_node();
  last.set_op_type("Identity");
  last.set_name(name);
  last.add_input(value);
  last.add_output(name);
  describe(*graph.add_output(), name, shape);
}

void OnnxGraph::store(const std::string& name, int type, const void* values, size_t bytes,
                      const Shape& shape) {
  onnx::TensorProto& tensor = *model_->proto.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(type);
  for (const int64_t side : shape) tensor.add_dims(side);
  tensor.set_raw_data(values, bytes);
}

OnnxGraph::Value OnnxGraph::tensor(const std::string& name, const std::vector<float>& values,
                                   const Shape& shape) {
  store(name, onnx::TensorProto::FLOAT, values.data(), values.size() * sizeof(float), shape);
  return name;
}

OnnxGraph::Value OnnxGraph::bytes(const std::string& name, const std::vector<int8_t>& values,
                                  const Shape& shape) {
  store(name, onnx::TensorProto::INT8, values.data(), values.size(), shape);
  return name;
}

std::string OnnxGraph::fresh(const std::string& word) {
  return fmt::format("{}_{}", word, ++nodes_);
}

OnnxGraph::Value OnnxGraph::scalar(float value) {
  Value& known = scalars_[value];
  if (known.empty()) known = tensor(fmt::format("number_{}", value), {value}, {});
  return known;
}

OnnxGraph::Value OnnxGraph::integers(const Shape& values) {
  Value& known = shapes_[values];
  if (!known.empty()) return known;
  known = fmt::format("integers_{}", shapes_.size());
  onnx::TensorProto& tensor = *model_->proto.mutable_graph()->add_initializer();
  tensor.set_name(known);
  tensor.set_data_type(onnx::TensorProto::INT64);
  tensor.add_dims(static_cast<int64_t>(values.size()));
  for (const int64_t value : values) tensor.add_int64_data(value);
  return known;
}

OnnxGraph::Value OnnxGraph::identity(int64_t side) {
  Value& known = identities_[side];
  if (!known.empty()) return known;
  std::vector<float> values(side * side);
  for (int64_t i = 0; i < side; ++i) values[i * side + i] = 1;
  known = tensor(fmt::format("identity_{}", side), values, {side, side});
  return known;
}

OnnxGraph::Value OnnxGraph::node(const char* operation, const std::vector<Value>& inputs,
                                 const Settings& settings) {
  onnx::NodeProto& node = *model_->proto.mutable_graph()->add_node();
  std::string name = fresh(operation);
  node.set_op_type(operation);
  node.set_name(name);
  node.add_output(name);
  for (const Value& input : inputs) node.add_input(input);
  for (const auto& [key, setting] : settings) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(key);
    std::visit([&](const auto& value) { set(attribute, value); }, setting);
  }
  return name;
}

OnnxGraph::Value OnnxGraph::dequantized(const Value& bytes, const Value& scales, int64_t axis) {
  return node("DequantizeLinear", {bytes, scales}, {{"axis", axis}});
}

OnnxGraph::Value OnnxGraph::rounded(const Value& x, float scale, uint8_t zero) {
  Value& zero_point = zeros_[zero];
  if (zero_point.empty()) {
    zero_point = fmt::format("byte_{}", zero);
    store(zero_point, onnx::TensorProto::UINT8, &zero, 1, {});
  }
  const Value bytes = node("QuantizeLinear", {x, scalar(scale), zero_point});
  return node("DequantizeLinear", {bytes, scalar(scale), zero_point});
}

OnnxGraph::RoundedRows OnnxGraph::rounded_rows(const Value& x) {
  const auto extreme = [&](const char* reduce, const char* with) {
    const Value of_row = node(reduce, {x}, {{"axes", Shape{-1}}, {"keepdims", int64_t{1}}});
    return node(with, {of_row, scalar(0)});
  };
  const Value lowest = extreme("ReduceMin", "Min"), highest = extreme("ReduceMax", "Max");
  const Value width = node("Sub", {highest, lowest});
  const Value scale = node("Max", {node("Div", {width, scalar(255)}), scalar(FLT_MIN)});
  const auto byte = [&](const Value& value) {
    return node("Clip", {node("Round", {value}), scalar(0), scalar(255)});
  };
  const Value zero = byte(node("Neg", {node("Div", {lowest, scale})}));
  const Value bytes = byte(add(node("Div", {x, scale}), zero));
  return {node("Sub", {bytes, zero}), scale};
}

OnnxGraph::Value OnnxGraph::floats(const Value& bytes) {
  return node("Cast", {bytes}, {{"to", int64_t{onnx::TensorProto::FLOAT}}});
}

OnnxGraph::Value OnnxGraph::transposed(const Value& x, const Shape& axes) {
  return node("Transpose", {x}, {{"perm", axes}});
}

OnnxGraph::Value OnnxGraph::reshaped(const Value& x, const Shape& shape) {
  return node("Reshape", {x, integers(shape)});
}

OnnxGraph::Value OnnxGraph::sliced(const Value& x, int64_t axis, int64_t begin, int64_t end) {
  return node("Slice", {x, integers({begin}), integers({end}), integers({axis})});
}

OnnxGraph::Value OnnxGraph::joined(const std::vector<Value>& parts, int64_t axis) {
  return node("Concat", parts, {{"axis", axis}});
}

OnnxGraph::Value OnnxGraph::summed(const Value& x, int64_t axis) {
  return node("ReduceSum", {x, integers({axis})}, {{"keepdims", int64_t{1}}});
}

OnnxGraph::Value OnnxGraph::largest(const Value& x, int64_t axis) {
  return node("ReduceMax", {x}, {{"axes", Shape{axis}}, {"keepdims", int64_t{1}}});
}

OnnxGraph::Value OnnxGraph::softmax(const Value& x) {
  return node("Softmax", {x}, {{"axis", int64_t{-1}}});
}

OnnxGraph::Value OnnxGraph::layer_norm(const Value& x, const Value& gamma, const Value& beta,
                                       float epsilon) {
  return node("LayerNormalization", {x, gamma, beta}, {{"epsilon", epsilon}});
}

// x (1 + erf(x / sqrt 2)) / 2, in the order that runtimes know as one operation.
OnnxGraph::Value OnnxGraph::erf_gelu(const Value& x) {
  const Value erf = node("Erf", {divided(x, scalar(static_cast<float>(std::sqrt(2.0))))});
  return times(times(x, add(erf, scalar(1))), scalar(0.5f));
}

// x (1 + tanh(sqrt(2/pi) (x + 0.044715 x³))) / 2
OnnxGraph::Value OnnxGraph::tanh_gelu(const Value& x) {
  const Value cube = node("Pow", {x, scalar(3)});
  const Value inner = add(x, times(cube, scalar(0.044715f)));
  const Value tanh = node("Tanh", {times(inner, scalar(static_cast<float>(std::sqrt(2 / M_PI))))});
  return times(times(x, scalar(0.5f)), add(tanh, scalar(1)));
}

int64_t OnnxGraph::nodes() const { return model_->proto.graph().node_size(); }

int64_t OnnxGraph::write(const std::string& path,
                         const std::map<std::string, std::string>& metadata) const {
  onnx::ModelProto& proto = model_->proto;
  proto.clear_metadata_props();
  for (const auto& [key, value] : metadata) {
    auto& entry = *proto.add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  }
  std::string bytes;
  if (!proto.SerializeToString(&bytes)) {
    fail("the graph is larger than the 2 GB that an ONNX file can hold; export a smaller model");
  }
  write_atomically(path, [&](std::ostream& out) {
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  });
  return static_cast<int64_t>(bytes.size());
}

void OnnxGraph::check() const {
  try {
    onnx::ModelProto copy = model_->proto;
    onnx::checker::check_model(copy);
    onnx::shape_inference::InferShapes(copy, onnx::OpSchemaRegistry::Instance(),
                                       onnx::ShapeInferenceOptions{true, 1, false});
  } catch (const std::exception& error) {
    fail("ONNX's checker refuses the graph: {}", error.what());
  }
}

}  // namespace soft
