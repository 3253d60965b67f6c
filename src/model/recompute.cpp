#include "model/recompute.h"

#include <algorithm>
#include <set>
#include <utility>

#include "model/drop.h"

namespace soft {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

bool has_batch_norm(const Part& part) {
  const auto* convolution = part.as<op::Convolution>();
  return part.as<op::BatchNorm>() != nullptr || (convolution != nullptr && convolution->batch_norm);
}

Stretch stretch_of(const Description& model, int begin, int end) {
  std::set<int> inputs, outputs;
  for (int i = begin; i < static_cast<int>(model.parts.size()); ++i) {
    for (const int from : model.parts[i].inputs) {
      if (i < end && from < begin) inputs.insert(from);
      if (i >= end && from >= begin && from < end) outputs.insert(from);
    }
  }
  return {begin, end, {inputs.begin(), inputs.end()}, {outputs.begin(), outputs.end()}};
}

struct Memory : torch::CustomClassHolder {
  Memory(Body does, size_t count) : body(std::move(does)), inputs(count), drops(next_drops()) {}

  Body body;
  size_t inputs;
  DropPoint drops;
};

class Recomputed : public torch::autograd::Function<Recomputed> {
 public:
  // `all`: the inputs, then the trained tensors.
  static variable_list forward(AutogradContext* context, const at::TensorList& all,
                               const c10::intrusive_ptr<Memory>& memory) {
    context->saved_data["memory"] = c10::IValue::make_capsule(memory);
    context->save_for_backward(all.vec());
    return memory->body(all.slice(0, memory->inputs).vec());
  }

  static variable_list backward(AutogradContext* context, variable_list incoming) {
    const auto memory =
        c10::static_intrusive_pointer_cast<Memory>(context->saved_data["memory"].toCapsule());
    variable_list all = context->get_saved_variables(), wanted;
    for (size_t i = 0; i < memory->inputs; ++i) {
      all[i] = all[i].detach().set_requires_grad(context->needs_input_grad(i));
    }
    for (const Tensor& tensor : all) {
      if (tensor.requires_grad()) wanted.push_back(tensor);
    }
    variable_list gradients = gradients_of(*memory, all, wanted, incoming);
    variable_list result;
    auto next = gradients.begin();
    for (const Tensor& tensor : all) result.push_back(tensor.requires_grad() ? *next++ : Tensor());
    result.emplace_back();  // of `memory`
    return result;
  }

 private:
  static variable_list gradients_of(const Memory& memory, const variable_list& all,
                                    const variable_list& wanted, const variable_list& incoming) {
    const torch::AutoGradMode grad(true);
    const DropAgain again(memory.drops);
    const variable_list outputs = memory.body({all.begin(), all.begin() + memory.inputs});
    return torch::autograd::grad(outputs, wanted, incoming, false, false, true);
  }
};

}  // namespace

std::vector<Stretch> layers_to_recompute(const Description& model) {
  std::vector<Stretch> layers;
  const auto count = static_cast<int>(model.parts.size());
  for (int begin = 0, end = 0; begin < count; begin = end) {
    const Place& place = model.parts[begin].place;
    bool whole = place.layer >= 0;
    for (end = begin; end < count && model.parts[end].place == place; ++end) {
      whole = whole && !has_batch_norm(model.parts[end]);
    }
    if (whole) layers.push_back(stretch_of(model, begin, end));
  }
  return layers;
}

std::vector<Tensor> recomputed(const Body& body, const std::vector<Tensor>& inputs,
                               const std::vector<Tensor>& trained) {
  variable_list all = inputs;
  all.insert(all.end(), trained.begin(), trained.end());
  return Recomputed::apply(at::TensorList(all), c10::make_intrusive<Memory>(body, inputs.size()));
}

}  // namespace soft
