#include "describe/cost.h"

#include <algorithm>
#include <limits>

#include "spec/landmark_count.h"

namespace soft {
namespace {

struct Sum {
  Wide params = 0, buffers = 0, macs = 0, inverse_macs = 0, floats = 0;
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

// Another look at what is there, which takes no memory.
bool is_view(const Part& part) {
  return part.as<op::Flatten>() != nullptr || part.as<op::Unflatten>() != nullptr ||
         part.as<op::Slice>() != nullptr || part.as<op::Reshape>() != nullptr ||
         part.as<op::Permute>() != nullptr;
}

Wide elements_of(const Part& part) {
  Wide count = 1;
  for (const int64_t side : part.shape) count *= side;
  return count;
}

// While each part runs: floats of its own value and of all that are still to be read.
std::vector<Wide> alive_at(const Description& model) {
  const size_t count = model.parts.size();
  std::vector<size_t> owner(count), last(count);
  for (size_t i = 0; i < count; ++i) {
    const Part& part = model.parts[i];
    owner[i] = is_view(part) ? owner[part.inputs[0]] : i;
    last[owner[i]] = i;
    for (const int input : part.inputs) last[owner[input]] = i;
  }
  std::vector<Wide> alive(count);
  Wide now = 0;
  for (size_t i = 0; i < count; ++i) {
    if (owner[i] == i) now += elements_of(model.parts[i]);
    alive[i] = now;
    for (size_t j = 0; j <= i; ++j) {
      if (owner[j] == j && last[j] == i) now -= elements_of(model.parts[j]);
    }
  }
  return alive;
}

// SOFT's own descriptions say for their layers what is alive there; others follow from the list.
std::vector<Wide> floats_of(const Description& model) {
  std::vector<Wide> floats;
  for (const Part& part : model.parts) floats.push_back(part.cost.floats);
  const bool said = std::any_of(floats.begin(), floats.end(), [](Wide own) { return own > 0; });
  return said ? floats : alive_at(model);
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
  const std::vector<Wide> floats = floats_of(model);
  for (size_t i = 0; i < model.parts.size(); ++i) {
    const Part& part = model.parts[i];
    at(part.place).floats = std::max(at(part.place).floats, floats[i]);
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
                           outline.depth, sum.heads, sum.attention, fitted(4 * sum.floats)});
    whole.params += sum.params;
    whole.buffers += sum.buffers;
    whole.macs += sum.macs;
    whole.inverse_macs += sum.inverse_macs;
    whole.floats = std::max(whole.floats, sum.floats);
  }
  cost.embedding = model.parts[model.head().inputs[0]].shape.back();
  cost.params = fitted(whole.params);
  cost.macs = fitted(whole.macs);
  cost.macs_with_inverse = fitted(whole.macs + whole.inverse_macs);
  cost.weight_bytes = fitted(4 * (whole.params + whole.buffers));
  cost.activation_bytes = fitted(4 * whole.floats);
  return cost;
}

ModelCost cost_of(const ModelSpec& spec, Grid image) {
  check_image(spec, image);
  return cost_of(describe(spec, image));
}

}  // namespace soft
