#include "cli/model_options.h"

#include <fmt/ranges.h>

#include "facade/boxed.h"
#include "facade/runner.h"

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
  add_box_flag(command, options);
}

void add_box_flag(CLI::App* command, ModelOptions& options) {
  std::vector<std::string> names;
  for (const BoxedModel& box : boxed_models()) names.push_back(box.name);
  command
      ->add_option("--box", options.box,
                   fmt::format("Which model in the box: {} (default: {})", fmt::join(names, ", "),
                               names.front()))
      ->type_name("NAME");
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

void add_engine_flag(CLI::App* command, std::string& engine) {
  const auto take = [&engine](const std::string& name) {
    parse_name("engine", name, engine_names());
    engine = name;
  };
  command
      ->add_option_function<std::string>(
          "--engine", take,
          "native, torch or torch-plain (default: native, or torch for what only LibTorch runs)")
      ->type_name("NAME");
}

}  // namespace soft
