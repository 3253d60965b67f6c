#include "describe/cost.h"

#include <algorithm>
#include <limits>

#include "spec/landmark_count.h"

namespace soft {
namespace {

struct Sum {
  Wide params = 0, buffers = 0, macs = 0, inverse_macs = 0;
  int64_t landmarks = 0;
  int heads = 0;
  std::string attention;
};

int64_t fitted(Wide count) {
  if (count > std::numeric_limits<int64_t>::max()) {
    fail_usage(
        "this model takes {:.1e} operations or bytes, more than can be counted; use fewer "
        "channels, layers or pixels",
        static_cast<double>(count));
  }
  return static_cast<int64_t>(count);
}

// Of tokens [n, C] or of a map [C, H, W].
int64_t channels_of(const Part& part) {
  return part.shape.size() == 3 ? part.shape.front() : part.shape.back();
}

// One sum per stage, and one for what stands behind them.
std::vector<Sum> sums_of(const Description& model) {
  std::vector<Sum> sums(model.stages.size() + 1);
  const auto at = [&](const Place& place) -> Sum& {
    return place.stage < 0 ? sums.back() : sums.at(place.stage);
  };
  for (const TensorShape& tensor : model.tensors) {
    Sum& sum = at(tensor.place);
    const bool counted = tensor.trained() || tensor.kind == TensorKind::kFixed;
    (counted ? sum.params : sum.buffers) += tensor.elements();
  }
  for (const Part& part : model.parts) {
    at(part.place).macs += part.cost.macs;
    at(part.place).inverse_macs += part.cost.inverse_macs;
    if (const auto* mix = part.as<op::Mix>()) {
      Sum& sum = at(part.place);
      sum.landmarks = landmark_count(mix->spec, mix->grid);
      sum.heads = mix->spec.heads;
      sum.attention = name_of(mix->spec.mechanism);
    }
  }
  return sums;
}

}  // namespace

ModelCost cost_of(const Description& model) {
  const std::vector<Sum> sums = sums_of(model);
  ModelCost cost;
  cost.head_params = fitted(sums.back().params);
  cost.head_macs = fitted(sums.back().macs);
  Sum whole = sums.back();
  for (size_t s = 0; s < model.stages.size(); ++s) {
    const Sum& sum = sums[s];
    const StageOutline& outline = model.stages[s];
    cost.stages.push_back({outline.grid, sum.landmarks, fitted(sum.params), fitted(sum.macs),
                           fitted(sum.inverse_macs), channels_of(model.parts[outline.features]),
                           outline.depth, sum.heads, sum.attention});
    whole.params += sum.params;
    whole.buffers += sum.buffers;
    whole.macs += sum.macs;
    whole.inverse_macs += sum.inverse_macs;
  }
  Wide floats = 0;
  for (const Part& part : model.parts) floats = std::max(floats, part.cost.floats);
  cost.embedding = model.parts[model.head().inputs[0]].shape.back();
  cost.params = fitted(whole.params);
  cost.macs = fitted(whole.macs);
  cost.macs_with_inverse = fitted(whole.macs + whole.inverse_macs);
  cost.weight_bytes = fitted(4 * (whole.params + whole.buffers));
  cost.activation_bytes = fitted(4 * floats);
  return cost;
}

ModelCost cost_of(const ModelSpec& spec, Grid image) {
  check_image(spec, image);
  return cost_of(describe(spec, image));
}

}  // namespace soft
