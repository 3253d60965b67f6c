#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "describe/description.h"
#include "weights/int8.h"

namespace soft {
namespace {

struct ConvertOptions {
  ModelOptions model;  // model.weights is what is read
  std::string out;
  bool half = false;
};

void check_target(const std::string& path) {
  if (std::filesystem::path(path).extension() != ".safetensors") {
    fail_usage("'{}' must end in .safetensors, the only format written", path);
  }
  check_output(path);
}

void run(const ConvertOptions& options) {
  check_target(options.out);
  ChosenModel chosen = choose_model(options.model);
  chosen.card.spec = with_changes(chosen.card.spec, options.model);
  check_fit(*chosen.weights, chosen.card.spec);
  if (has_int8(*chosen.weights)) chosen.weights = dequantized(*chosen.weights);
  std::vector<NamedTensor> tensors;
  for (const TensorShape& tensor : tensors_of(chosen.card.spec)) {
    tensors.push_back({tensor.name, chosen.weights->tensors.at(tensor.name)});
  }
  const DType type = options.half ? DType::kF16 : DType::kF32;
  write_safetensors(options.out, tensors, metadata_of(chosen.card), {type});
  log("wrote '{}': {}, {} tensors as {}", options.out, chosen.card.spec.name, tensors.size(),
      name_of(type));
}

}  // namespace

void add_convert(CLI::App& app) {
  auto options = std::make_shared<ConvertOptions>();
  CLI::App* command = add_command(
      app, {"convert", "Weights", "Turn a .pth or .safetensors file into one of ours",
            "soft convert checkpoint.pth model.safetensors --half\n"
            "soft convert checkpoint.pth model.safetensors --set inverse=newton-adaptive"});
  command->add_option("in", options->model.weights, "A .pth or .safetensors file")
      ->required()
      ->type_name("IN");
  command->add_option("out", options->out, "A .safetensors file; replaced when it exists")
      ->required()
      ->type_name("OUT");
  add_weights_key_flag(command, options->model);
  add_model_flag(command, options->model);
  add_change_flags(command, options->model);
  command->add_flag("--half", options->half, "Store half precision (fp16)");
  command->callback([options] { run(*options); });
}

}  // namespace soft
