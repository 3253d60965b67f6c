#include "engine/work.h"

#include "describe/description.h"
#include "engine/network.h"

namespace soft {
namespace {

double operations(const DenseShape& shape, int64_t pixels) {
  return 2.0 * static_cast<double>(pixels * shape.out * shape.in * shape.kernel * shape.kernel);
}

Phase phase_of(const Place& place) {
  if (place.stage < 0) return Phase::kHead;
  return place.layer < 0 ? Phase::kEmbed : Phase::kLeave;
}

// Of a family that is walked through part by part.
PhaseWork walked_work(const Description& model) {
  PhaseWork work{};
  for (const Part& part : model.parts) {
    if (part.as<op::Convolution>() == nullptr && part.as<op::Linear>() == nullptr) continue;
    const size_t stage = part.place.stage < 0 ? model.stages.size() - 1 : part.place.stage;
    work.at(stage)[static_cast<size_t>(phase_of(part.place))] +=
        2 * static_cast<double>(part.cost.macs);
  }
  return work;
}

}  // namespace

PhaseWork dense_work(const Packed& model, Grid image) {
  PhaseWork work{};
  const Network& network = *model.network();
  if (!network.parts.empty()) return walked_work(describe(network.spec, image));
  const auto last = network.stages.size() - 1;
  for (size_t s = 0; s <= last; ++s) {
    const PackedStage& stage = network.stages[s];
    const auto at = [&](Phase phase) -> double& { return work[s][static_cast<size_t>(phase)]; };
    const auto index = static_cast<int>(s);
    Grid map = s == 0 ? image : stage_grid(network.spec, index - 1, image);
    for (const Dense& conv : stage.embed) {
      map = conv.shape.output(map);
      at(Phase::kEmbed) += operations(conv.shape, map.size());
    }
    const int64_t tokens = stage_grid(network.spec, index, image).size() + stage.prefix;
    at(Phase::kEnter) = operations(stage.layers.front().project.shape, tokens);
    for (size_t i = 0; i < stage.layers.size(); ++i) {
      const PackedLayer& layer = stage.layers[i];
      const bool final_layer = s == last && i + 1 == stage.layers.size();
      // The class token alone is served at the very end.
      const int64_t rows = final_layer && stage.prefix > 0 ? stage.prefix : tokens;
      for (const Dense* dense : {&layer.merge, &layer.up, &layer.down}) {
        at(Phase::kLeave) += operations(dense->shape, rows);
      }
      if (i + 1 < stage.layers.size()) {
        at(Phase::kLeave) += operations(stage.layers[i + 1].project.shape, tokens);
      }
    }
    if (s == last) at(Phase::kHead) = operations(network.head.shape, 1);
  }
  return work;
}

}  // namespace soft
