#include "facade/choice.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "spec/all_models.h"
#include "weights/infer.h"

namespace soft {
namespace {

// A bare file of a family: the settings may be needed to say which shapes it has.
Card told_card(const Weights& weights, const ModelOptions& options) {
  const ModelSpec row = find_model(options.model);
  try {
    return fit_card(weights, row);
  } catch (const Error&) {
    if (options.settings.empty()) throw;
    return fit_card(weights, with_changes(row, options));
  }
}

Card card_for(const Weights& weights, const ModelOptions& options) {
  const bool told =
      !options.model.empty() && !has_card(weights) && find_model(options.model).in_zoo();
  return told ? told_card(weights, options) : card_of(weights, options.model);
}

}  // namespace

ChosenModel choose_model(const ModelOptions& options) {
  ChosenModel chosen;
  if (options.weights.empty()) {
    if (!options.weights_key.empty()) {
      fail_usage("--weights-key {} chooses inside a .pth checkpoint, and none is given",
                 options.weights_key);
    }
    chosen.card.spec = find_model(options.model);
    return chosen;
  }
  chosen.weights = read_weights(options.weights, options.weights_key);
  chosen.card = card_for(*chosen.weights, options);
  check_fit(*chosen.weights, chosen.card.spec);
  return chosen;
}

ModelSpec with_changes(ModelSpec spec, const ModelOptions& options) {
  if (!options.attention.empty()) set_field(spec, "attention", options.attention);
  for (const std::string& setting : options.settings) apply_setting(spec, setting);
  validate(spec);
  return spec;
}

LoadedModel load_model(const ModelOptions& options, uint64_t seed) {
  ChosenModel chosen = choose_model(options);
  LoadedModel model;
  model.card = std::move(chosen.card);
  model.card.spec = with_changes(model.card.spec, options);
  model.weights =
      chosen.weights ? std::move(*chosen.weights) : random_weights(model.card.spec, seed);
  check_fit(model.weights, model.card.spec);
  return model;
}

bool is_model_name(const std::string& subject) {
  const auto names = all_model_names();
  if (std::find(names.begin(), names.end(), subject) != names.end()) return true;
  std::error_code ignored;  // a name that no file can have is none
  return subject.find_first_of("/.") == std::string::npos &&
         !std::filesystem::exists(subject, ignored);
}

}  // namespace soft
