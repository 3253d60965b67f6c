// The whole file: graph, metadata, and the library's entry point.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "export/export.h"
#include "export/mix.h"
#include "export/walk.h"

namespace soft {
namespace {

std::map<std::string, std::string> metadata(const Card& card, Grid size) {
  std::map<std::string, std::string> entries = metadata_of(card);
  entries["class_names"] = Json(card.class_names).dump();
  entries["preprocessing"] = fmt::format(
      "RGB pictures, upright; short side resized to {0} pixels (bicubic, antialiased), centre crop "
      "of {1}x{2}; values divided by 255, minus mean [{3}, {4}, {5}], divided by std [{6}, {7}, "
      "{8}]; float32 [batch, 3, {1}, {2}]",
      static_cast<int>(static_cast<double>(std::min(size.h, size.w)) / card.crop_fraction), size.h,
      size.w, card.mean[0], card.mean[1], card.mean[2], card.std[0], card.std[1], card.std[2]);
  if (uses_landmarks(card.spec.attention)) {
    entries["inverse"] =
        "Newton's steps are unrolled; a matrix whose steps do not converge is not solved exactly, "
        "as `soft` itself would";
  }
  return entries;
}

std::string obstacle_of(const ModelSpec& spec) {
  for (int stage = 0; stage < static_cast<int>(spec.stages.size()); ++stage) {
    const std::string obstacle = export_obstacle(attention_of(spec, stage));
    if (!obstacle.empty()) return obstacle;
  }
  return "";
}

Exported write(const ExportRequest& request) {
  const ModelSpec& spec = request.card.spec;
  const std::string obstacle = obstacle_of(spec);
  if (!obstacle.empty()) fail_usage("{}", obstacle);
  check_image(spec, request.size, Fault::kUsage);
  check_fit(request.weights, spec);
  OnnxGraph graph;
  const Description model = describe(spec, request.size);
  const OnnxGraph::Value logits = OnnxWalk(graph, request.weights, model).run();
  graph.output("logits", logits, {kAnyBatch, spec.classes});
  if (request.check) graph.check();
  return {graph.nodes(), graph.write(request.path, metadata(request.card, request.size))};
}

constexpr OnnxWing kWing{write};

}  // namespace
}  // namespace soft

extern "C" __attribute__((visibility("default"))) const soft::OnnxWing* soft_onnx_wing() {
  return &soft::kWing;
}
