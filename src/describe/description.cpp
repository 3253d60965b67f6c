#include "describe/description.h"

namespace soft {
namespace {

struct Namer {
  std::string_view operator()(const op::Pixels&) const { return "pixels"; }
  std::string_view operator()(const op::Convolution&) const { return "convolution"; }
  std::string_view operator()(const op::Linear&) const { return "linear"; }
  std::string_view operator()(const op::LayerNorm&) const { return "layer norm"; }
  std::string_view operator()(const op::Flatten&) const { return "flatten"; }
  std::string_view operator()(const op::Unflatten&) const { return "unflatten"; }
  std::string_view operator()(const op::ClassToken&) const { return "class token"; }
  std::string_view operator()(const op::Position&) const { return "position"; }
  std::string_view operator()(const op::Slice&) const { return "slice"; }
  std::string_view operator()(const op::Mix&) const { return "mix"; }
  std::string_view operator()(const op::Activate&) const { return "activate"; }
  std::string_view operator()(const op::Residual&) const { return "residual"; }
  std::string_view operator()(const op::Pool&) const { return "pool"; }
  std::string_view operator()(const op::BatchNorm&) const { return "batch norm"; }
  std::string_view operator()(const op::WindowPool&) const { return "window pool"; }
  std::string_view operator()(const op::GlobalMean&) const { return "global mean"; }
  std::string_view operator()(const op::Combine&) const { return "combine"; }
  std::string_view operator()(const op::Stored&) const { return "stored"; }
  std::string_view operator()(const op::Constant&) const { return "constant"; }
  std::string_view operator()(const op::Reshape&) const { return "reshape"; }
  std::string_view operator()(const op::Permute&) const { return "permute"; }
  std::string_view operator()(const op::Join&) const { return "join"; }
  std::string_view operator()(const op::Pad&) const { return "pad"; }
  std::string_view operator()(const op::Unfold&) const { return "unfold"; }
  std::string_view operator()(const op::Product&) const { return "product"; }
  std::string_view operator()(const op::Softmax&) const { return "softmax"; }
  std::string_view operator()(const op::Reduce&) const { return "reduce"; }
  std::string_view operator()(const op::Lookup&) const { return "lookup"; }
  std::string_view operator()(const op::Order&) const { return "order"; }
  std::string_view operator()(const op::Dropout&) const { return "dropout"; }
  std::string_view operator()(const op::Pair&) const { return "pair"; }
};

}  // namespace

std::string_view name_of(const Operation& operation) { return std::visit(Namer{}, operation); }

int64_t TensorShape::elements() const {
  int64_t count = 1;
  for (const int64_t side : shape) count *= side;
  return count;
}

const TensorShape* Description::find(const Part& part, std::string_view name) const {
  const std::string whole = part.name + "." + std::string(name);
  for (const int tensor : part.tensors) {
    if (tensors[tensor].name == whole) return &tensors[tensor];
  }
  return nullptr;
}

}  // namespace soft
