#include "train/init.h"

#include <cmath>
#include <set>

#include "attention/torch.h"
#include "base/error.h"
#include "base/npy.h"
#include "model/positions.h"
#include "weights/int8.h"

namespace soft {
namespace {

using torch::Tensor;

Tensor floats_of(const TensorView& view) {
  Tensor tensor = torch::empty(view.shape);
  copy_floats(view, tensor.data_ptr<float>());
  return tensor;
}

// A square grid of positions; a class token's own vector is the same in both.
Tensor resized(const Tensor& stored, const std::string& name, const op::Position& position) {
  const auto side = static_cast<int64_t>(std::sqrt(stored.size(1)));
  if (stored.size(1) - side * side != position.prefix) {
    fail("cannot resize the {} positions of '{}' to {}: only one of both models has a class token",
         stored.size(1), name, position.prefix + position.made_for.size());
  }
  op::Position change = position;
  change.made_for = {side, side};
  change.grid = position.made_for;
  return resized_positions(stored, change);
}

// The operation whose tensor this is, where positions are added; nullptr for any other.
const op::Position* position_of(const Description& model, const std::string& name) {
  for (const Part& part : model.parts) {
    if (part.as<op::Position>() != nullptr && part.name == name) return part.as<op::Position>();
  }
  return nullptr;
}

void check_known(const std::vector<ModelTensor>& targets, const Weights& weights) {
  std::set<std::string> known;
  for (const ModelTensor& target : targets) known.insert(target.name);
  for (const auto& [name, view] : weights.tensors) {
    if (known.count(name) == 0) {
      fail(
          "'{}' has a tensor '{}', which this model has not; --init needs weights of the same "
          "model",
          weights.path, name);
    }
  }
}

}  // namespace

std::vector<std::string> initialise_from(Classifier& model, const Weights& given) {
  const Weights weights = dequantized(given);
  const torch::NoGradGuard no_grad;
  std::vector<std::string> notes;
  const std::vector<ModelTensor> targets = model.tensors();
  check_known(targets, weights);
  bool new_head = false;
  for (const ModelTensor& target : targets) {
    const std::string& name = target.name;
    Tensor tensor = target.tensor;
    const op::Position* position = position_of(model.description(), name);
    const auto found = weights.tensors.find(name);
    if (found == weights.tensors.end()) {
      fail("'{}' has no tensor '{}'; --init needs weights of the same model", weights.path, name);
    }
    const Tensor stored = floats_of(found->second);
    if (!torch::isfinite(stored).all().item<bool>()) {
      fail("'{}': tensor '{}' holds values that are no finite numbers; --init needs whole weights",
           weights.path, name);
    }
    if (stored.sizes() == tensor.sizes()) {
      tensor.copy_(stored);
    } else if (target.head) {
      new_head = true;
    } else if (position != nullptr && stored.dim() == 3 && stored.size(2) == tensor.size(2)) {
      tensor.copy_(resized(stored, name, *position));
      notes.push_back(name + " is resized to this image size");
    } else {
      fail("'{}': tensor '{}' is {}, this model needs {}; --init needs weights of the same model",
           weights.path, name, shape_text(stored.sizes().vec()), shape_text(tensor.sizes().vec()));
    }
  }
  if (new_head) notes.insert(notes.begin(), "the head is made anew for this set's classes");
  return notes;
}

void freeze_all_but_head(Classifier& model) {
  for (const ModelTensor& own : model.tensors()) {
    if (own.kind == TensorKind::kTrained) Tensor(own.tensor).set_requires_grad(own.head);
  }
}

}  // namespace soft
