#include "serve/facts.h"

#include "base/error.h"
#include "describe/cost.h"
#include "describe/sequence.h"

namespace soft {
namespace {

constexpr int kLargestFactor = 8;  // of the model's own size

int64_t macs_at(const ModelSpec& spec, int size) {
  return cost_of(spec, {size, size}).macs_with_inverse;
}

// Multiples of the model's own size that are affordable.
Json sizes_of(const ModelSpec& spec) {
  Json sizes = Json::array();
  for (int factor = 1; factor <= kLargestFactor; ++factor) {
    const int size = factor * spec.image_size;
    const int64_t macs = macs_at(spec, size);
    if (factor > 1 && macs > kMostMacs) break;
    sizes.push_back({{"size", size}, {"macs", macs}});
  }
  return sizes;
}

Json stages_of(const ModelCost& cost) {
  Json stages = Json::array();
  for (const StageCost& stage : cost.stages) {
    stages.push_back({{"stage", stages.size() + 1},
                      {"layers", stage.depth},
                      {"heads", stage.heads},
                      {"channels", stage.dim},
                      {"grid", {stage.grid.h, stage.grid.w}},
                      {"attention", stage.attention}});
  }
  return stages;
}

Json text_facts(const SequenceCard& card) {
  const SequenceSpec& spec = card.spec;
  const ModelCost cost = cost_of(describe(spec, spec.length));
  return {{"name", spec.name},
          {"reads", "texts"},
          {"task", card.task},
          {"attention", spec.form},
          {"params", cost.params},
          {"macs", cost.macs},
          {"macs_with_inverse", cost.macs_with_inverse},
          {"weight_bytes", cost.weight_bytes},
          {"length", card.cut},
          {"classes", card.classes.size()},
          {"class_names", card.classes}};
}

// The models that a request may name.
Json boxes_of(const ServedModels& all) {
  Json boxes = Json::array();
  for (const ServedModel& model : all) {
    if (!model.box.empty()) boxes.push_back({{"name", model.box}, {"about", model.about}});
  }
  return boxes;
}

Json picture_facts(const ServedModel& model, const ServedModels& all) {
  const ModelSpec& spec = model.spec();
  const ModelCost cost = cost_of(spec, {spec.image_size, spec.image_size});
  const Preprocessing& preprocessing = model.preprocessing;
  return {{"name", spec.name},
          {"reads", "pictures"},
          {"box", model.box.empty() ? Json() : Json(model.box)},
          {"boxes", boxes_of(all)},
          {"family", spec.family},
          {"params", cost.params},
          {"macs", cost.macs},
          {"macs_with_inverse", cost.macs_with_inverse},
          {"weight_bytes", model.runner->weight_bytes()},
          {"image_size", spec.image_size},
          {"classes", spec.classes},
          {"class_names", model.runner->card().class_names},
          {"stages", stages_of(cost)},
          {"sizes", sizes_of(spec)},
          {"preprocessing",
           {{"short_side", preprocessing.short_side},
            {"mean", preprocessing.mean},
            {"std", preprocessing.std}}}};
}

}  // namespace

Json facts_of(const ServedModel& model, const ServedModels& all) {
  return model.reads_texts() ? text_facts(model.texts->card()) : picture_facts(model, all);
}

void check_size(const ModelSpec& spec, int size) {
  if (size == spec.image_size) return;
  const int largest = kLargestFactor * spec.image_size;
  if (size > largest) {
    fail_usage("size={} is more than {} times the model's own {}; use at most {}", size,
               kLargestFactor, spec.image_size, largest);
  }
  check_image(spec, {size, size}, Fault::kUsage);
  const int64_t macs = macs_at(spec, size);
  if (macs <= kMostMacs) return;
  fail_usage("size={} would take {} G multiply-adds, more than the {} G a request may; use less",
             size, macs / 1'000'000'000, kMostMacs / 1'000'000'000);
}

}  // namespace soft
