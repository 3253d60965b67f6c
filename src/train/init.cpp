#include "train/init.h"

#include <cmath>

#include "attention/torch.h"
#include "base/error.h"
#include "base/npy.h"
#include "model/checkpoint.h"

namespace soft {
namespace {

using torch::Tensor;

Tensor tensor_of(const TensorView& view) {
  Tensor tensor = torch::empty(view.shape);
  copy_floats(view, tensor.data_ptr<float>());
  return tensor;
}

bool starts_with(const std::string& text, const char* prefix) { return text.rfind(prefix, 0) == 0; }

// Square grids of positions, with or without a class token's own vector in front.
Tensor resized_positions(const std::string& name, const Tensor& stored, int64_t wanted) {
  const auto side = [](int64_t count) { return static_cast<int64_t>(std::sqrt(count)); };
  const int64_t from = side(stored.size(1)), to = side(wanted);
  const int64_t prefix = stored.size(1) - from * from;
  if (prefix > 1 || wanted - to * to != prefix) {
    fail("cannot resize the {} positions of '{}' to {}: only one of both models has a class token",
         stored.size(1), name, wanted);
  }
  const Tensor map = stored.narrow(1, prefix, from * from)
                         .transpose(1, 2)
                         .reshape({1, stored.size(2), from, from});
  const Tensor grid = torch::upsample_bilinear2d(map, {to, to}, false).flatten(2).transpose(1, 2);
  return torch::cat({stored.narrow(1, 0, prefix), grid}, 1);
}

}  // namespace

std::vector<std::string> initialise_from(Classifier& model, const Weights& weights) {
  const torch::NoGradGuard no_grad;
  std::vector<std::string> notes;
  const auto targets = tensors_by_name(model);
  for (const auto& [name, view] : weights.tensors) {
    if (targets.count(name) == 0) {
      fail(
          "'{}' has a tensor '{}', which this model has not; --init needs weights of the same "
          "model",
          weights.path, name);
    }
  }
  for (const auto& [name, tensor] : targets) {
    const auto found = weights.tensors.find(name);
    if (found == weights.tensors.end()) {
      fail("'{}' has no tensor '{}'; --init needs weights of the same model", weights.path, name);
    }
    const Tensor stored = tensor_of(found->second);
    if (!torch::isfinite(stored).all().item<bool>()) {
      fail("'{}': tensor '{}' holds values that are no finite numbers; --init needs whole weights",
           weights.path, name);
    }
    if (stored.sizes() == tensor.sizes()) {
      tensor.copy_(stored);
    } else if (starts_with(name, "head.")) {
      if (name == "head.weight") notes.push_back("the head is made anew for this set's classes");
    } else if (starts_with(name, "pos_embed") && stored.dim() == 3 &&
               stored.size(2) == tensor.size(2)) {
      tensor.copy_(resized_positions(name, stored, tensor.size(1)));
      notes.push_back(name + " is resized to this image size");
    } else {
      fail("'{}': tensor '{}' is {}, this model needs {}; --init needs weights of the same model",
           weights.path, name, shape_text(stored.sizes().vec()), shape_text(tensor.sizes().vec()));
    }
  }
  return notes;
}

void freeze_all_but_head(Classifier& model) {
  for (const auto& item : model.named_parameters()) {
    item.value().set_requires_grad(starts_with(item.key(), "head."));
  }
}

}  // namespace soft
