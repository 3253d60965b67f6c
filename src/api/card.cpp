// What a model is and costs, as callers read it.
#include "api/inside.h"
#include "describe/cost.h"
#include "spec/all_models.h"

namespace soft {
namespace {

ModelSpec changed(const std::string& model, const Settings& settings) {
  ModelOptions options;
  options.settings = texts_of(settings);
  return with_changes(find_model(model), options);
}

std::array<double, 3> triple(const std::vector<double>& values) {
  return {values.at(0), values.at(1), values.at(2)};
}

}  // namespace

std::vector<std::string> texts_of(const Settings& settings) {
  std::vector<std::string> texts;
  for (const auto& [key, value] : settings) texts.push_back(key + "=" + value);
  return texts;
}

ModelCard card_for(const soft::Card& card) {
  const ModelSpec& spec = card.spec;
  ModelCard result;
  result.name = spec.name;
  result.image_size = spec.image_size;
  result.classes = spec.classes;
  result.class_names = card.class_names;
  for (const StageCost& stage : cost_of(spec, {spec.image_size, spec.image_size}).stages) {
    result.stages.push_back(
        {stage.depth, stage.heads, static_cast<int>(stage.dim), stage.attention});
  }
  result.mean = triple(card.mean);
  result.std = triple(card.std);
  result.short_side = card.short_side();
  const Json settings = settings_of(spec);
  for (const auto& [key, value] : settings.items()) {
    result.settings.emplace_back(key, value.get<std::string>());
  }
  return result;
}

Cost cost_for(const ModelSpec& spec, int64_t height, int64_t width) {
  const Grid size{height > 0 ? height : spec.image_size, width > 0 ? width : spec.image_size};
  check_image(spec, size, Fault::kUsage);
  const ModelCost cost = cost_of(spec, size);
  return {cost.params, cost.macs, cost.macs_with_inverse, cost.weight_bytes, cost.activation_bytes};
}

inline namespace v0_2 {

std::vector<std::string> models() {
  const auto names = all_model_names();
  return {names.begin(), names.end()};
}

ModelCard card(const std::string& model, const Settings& settings) {
  soft::Card card;
  card.spec = changed(model, settings);
  return card_for(card);
}

Cost cost(const std::string& model, const Settings& settings, int64_t height, int64_t width) {
  return cost_for(changed(model, settings), height, width);
}

}  // namespace v0_2
}  // namespace soft
