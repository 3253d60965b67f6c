#include "cli/model_options.h"

#include <fmt/ranges.h>

#include "base/error.h"

namespace soft {

void add_model_flag(CLI::App* command, ModelOptions& options) {
  command
      ->add_option("--model", options.model,
                   "A model of the table (`soft models`); for a foreign weights file, what its "
                   "shapes cannot show")
      ->type_name("NAME");
}

void add_weights_flag(CLI::App* command, ModelOptions& options) {
  command
      ->add_option("--weights", options.weights,
                   "A .safetensors or .pth file (default: the model in the box)")
      ->type_name("FILE");
}

void add_weights_key_flag(CLI::App* command, ModelOptions& options) {
  command
      ->add_option("--weights-key", options.weights_key,
                   "The dictionary to take from a .pth file (default: state_dict_ema, else "
                   "state_dict)")
      ->type_name("KEY");
}

void add_change_flags(CLI::App* command, ModelOptions& options) {
  const auto attentions = fmt::format("Attention: {}", fmt::join(names_of(Mechanism{}), ", "));
  command->add_option("--attention", options.attention, attentions)->type_name("NAME");
  add_setting_flag(command, options);
}

void add_setting_flag(CLI::App* command, ModelOptions& options) {
  command
      ->add_option("--set", options.settings,
                   "Change a setting, e.g. --set sampler=avg; may be repeated (`soft info MODEL "
                   "--settings` lists them)")
      ->allow_extra_args(false)  // otherwise it would swallow the words that follow
      ->type_name("KEY=VALUE");
}

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
  chosen.card = card_of(*chosen.weights, options.model);
  check_fit(*chosen.weights, chosen.card.spec);
  return chosen;
}

ModelSpec with_changes(ModelSpec spec, const ModelOptions& options) {
  if (!options.attention.empty()) set_field(spec, "attention", options.attention);
  for (const std::string& setting : options.settings) apply_setting(spec, setting);
  validate(spec);
  return spec;
}

}  // namespace soft
