#include "engine/fuse.h"

#include <algorithm>

namespace soft {
namespace {

class Fusing {
 public:
  explicit Fusing(const Description& model) : model_(model), readers_(model.parts.size()) {
    for (const Part& part : model.parts) {
      for (const int input : part.inputs) ++readers_[input];
    }
    for (const StageOutline& stage : model.stages) ++readers_[stage.features];
  }

  // From the last part to the first: whoever swallows others comes before them.
  std::vector<Task> run() {
    std::vector<bool> swallowed(model_.parts.size());
    std::vector<Task> tasks;
    for (int i = static_cast<int>(model_.parts.size()) - 1; i >= 0; --i) {
      if (swallowed[i]) continue;
      swallowed_.clear();
      tasks.push_back(task(i));
      for (const int part : swallowed_) swallowed[part] = true;
    }
    std::reverse(tasks.begin(), tasks.end());
    return tasks;
  }

 private:
  // The part, where it does this and nobody but the asking one reads it.
  template <class Op>
  const Part* only(int part) const {
    return readers_[part] == 1 && at(part).as<Op>() != nullptr ? &at(part) : nullptr;
  }
  const Part& at(int part) const { return model_.parts[part]; }

  Task task(int i) {
    const Part& part = at(i);
    if (part.as<op::Product>() != nullptr) return attention(i);
    if (part.as<op::Residual>() != nullptr) return sum(i, i, false);
    const auto* activate = part.as<op::Activate>();
    if (activate != nullptr && activate->curve == Curve::kRelu &&
        only<op::Residual>(part.inputs[0]) != nullptr) {
      swallowed_.push_back(part.inputs[0]);
      return sum(i, part.inputs[0], true);
    }
    return {i, part.inputs};
  }

  Task sum(int result, int residual, bool relu) {
    const int kept = at(residual).inputs[0], branch = at(residual).inputs[1];
    const Part* convolution = only<op::Convolution>(branch);
    if (convolution == nullptr || convolution->as<op::Convolution>()->after != Curve::kNone) {
      return {result, {kept, branch}, -1, relu};
    }
    swallowed_.push_back(branch);
    return {result, {convolution->inputs[0], kept}, branch, relu};
  }

  // softmax(scale·QKᵀ)V, or the product alone.
  Task attention(int i) {
    const std::vector<int>& inputs = at(i).inputs;
    const Part* weights = only<op::Softmax>(inputs[0]);
    const Part* scores = weights != nullptr ? only<op::Product>(weights->inputs[0]) : nullptr;
    const bool rows = weights != nullptr && weights->as<op::Softmax>()->axis == -1;
    if (!rows || scores == nullptr || !scores->as<op::Product>()->transposed ||
        at(i).as<op::Product>()->transposed || at(i).as<op::Product>()->scale != 1) {
      return {i, inputs};
    }
    swallowed_ = {inputs[0], weights->inputs[0]};
    return {i,
            {scores->inputs[0], scores->inputs[1], inputs[1]},
            -1,
            false,
            scores->as<op::Product>()->scale};
  }

  const Description& model_;
  std::vector<int> readers_;
  std::vector<int> swallowed_;  // by the present task
};

}  // namespace

std::vector<Task> fused(const Description& model) { return Fusing(model).run(); }

}  // namespace soft
