#include "model/sequence_model.h"

#include <algorithm>

#include "base/error.h"
#include "describe/sequence.h"

namespace soft {
namespace {

void check_lengths(const SequenceSpec& spec, const PackedSequences& batch) {
  for (const int64_t length : batch.lengths) {
    if (length <= spec.length) continue;
    fail("a sequence of {} tokens; {} reads at most {}", length, spec.name, spec.length);
  }
}

}  // namespace

SequenceModel::SequenceModel(const SequenceSpec& spec)
    : DescribedModel(spec.name, soft::describe(spec, spec.length)), spec_(spec) {}

torch::Tensor SequenceModel::forward(const PackedSequences& batch) {
  check_lengths(spec_, batch);
  return run_parts(*own_route(), batch);
}

torch::Tensor SequenceModel::encode(const PackedSequences& batch) {
  check_lengths(spec_, batch);
  const std::vector<Part>& parts = description().parts;
  const auto pool = std::find_if(parts.begin(), parts.end(),
                                 [](const Part& part) { return part.as<op::Pool>() != nullptr; });
  return value_of(static_cast<int>(pool - parts.begin()), *own_route(), batch);
}

}  // namespace soft
