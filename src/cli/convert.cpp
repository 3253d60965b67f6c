#include <cstdio>
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
  std::string shown;  // STAGE,LAYER,HEAD
  bool half = false;
};

void check_target(const std::string& path) {
  if (std::filesystem::path(path).extension() != ".safetensors") {
    fail_usage("'{}' must end in .safetensors, the only format written", path);
  }
  check_output(path);
}

HeadPlace parse_place(const std::string& text, const ModelSpec& spec) {
  HeadPlace place;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%d,%d,%d%c", &place.stage, &place.layer, &place.head, &rest) !=
      3) {
    fail_usage("--shown '{}' must be STAGE,LAYER,HEAD, each from 1, e.g. 1,3,2", text);
  }
  check_shown(place, spec, "--shown");
  return place;
}

void run(const ConvertOptions& options) {
  check_target(options.out);
  ChosenModel chosen = choose_model(options.model);
  chosen.card.spec = with_changes(chosen.card.spec, options.model);
  check_fit(*chosen.weights, chosen.card.spec);
  if (!options.shown.empty()) chosen.card.shown = parse_place(options.shown, chosen.card.spec);
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
  command
      ->add_option("--shown", options->shown,
                   "The head whose maps `attend --stage best` and the page show first (default: as "
                   "the file says, or none)")
      ->type_name("STAGE,LAYER,HEAD");
  command->callback([options] { run(*options); });
}

}  // namespace soft
