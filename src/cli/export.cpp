// `soft export`: a model as an ONNX file.
#include "export/export.h"

#include <filesystem>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/size.h"

namespace soft {
namespace {

struct OnnxOptions {
  std::string subject;  // a model's name or a weights file
  ModelOptions model;
  std::string out;
  std::optional<Grid> size;
  uint64_t seed = 0;
  bool check = false;
};

void export_model(OnnxOptions options) {
  if (std::filesystem::path(options.out).extension() != ".onnx") {
    fail_usage("'{}' must end in .onnx", options.out);
  }
  check_output(options.out);
  const bool name = is_model_name(options.subject);
  (name ? options.model.model : options.model.weights) = options.subject;
  if (name) log("{} has no weights of its own: nobody trained these", options.subject);
  const LoadedModel model = load_model(options.model, options.seed);
  const int side = model.card.spec.image_size;
  const Exported written =
      export_onnx({model.weights, model.card, options.size.value_or(Grid{side, side}), options.out,
                   options.check});
  log("wrote '{}': {}, {} nodes, {:.1f} MB", options.out, model.card.spec.name, written.nodes,
      1e-6 * static_cast<double>(written.bytes));
}

}  // namespace

void add_onnx_export(CLI::App& app) {
  auto options = std::make_shared<OnnxOptions>();
  CLI::App* command =
      add_command(app, {"export", "Weights", "Write a model as ONNX, opset 17, for any batch",
                        "soft export model.safetensors model.onnx --check\n"
                        "soft export soft-nano untrained.onnx --size 64"});
  command->add_option("model", options->subject, "A weights file, or a name from `soft models`")
      ->required()
      ->type_name("MODEL|FILE");
  command->add_option("out", options->out, "An .onnx file; replaced when it exists")
      ->required()
      ->type_name("OUT");
  command
      ->add_option_function<std::string>(
          "--size", [options](const std::string& text) { options->size = parse_size(text); },
          "Pictures of N or HxW pixels (default: the model's own)")
      ->type_name("N|HxW");
  add_weights_key_flag(command, options->model);
  add_change_flags(command, options->model);
  command->add_option("--seed", options->seed, "Of weights that nobody trained")->type_name("N");
  command->add_flag("--check", options->check, "Let ONNX's own checker look at it first");
  command->callback([options] { export_model(*options); });
}

}  // namespace soft
