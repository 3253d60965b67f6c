#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/log.h"
#include "base/parallel.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/model_options.h"
#include "wing/wing.h"

namespace soft {
namespace {

struct Options {
  ModelOptions model;
  uint64_t seed = 0;
  std::string input;
  std::string output;
  std::string engine = "torch";
  bool features = false;
};

void check_engine(const std::string& engine) {
  if (parse_name("engine", engine, {"native", "torch"}) == 0) {
    fail_usage("--engine native is not in this version; use --engine torch");
  }
}

// Found before the model runs, not after.
void check_output(const std::string& path) {
  const auto folder = std::filesystem::absolute(path).parent_path();
  if (!std::filesystem::is_directory(folder)) {
    fail("cannot write '{}': there is no folder '{}'", path, folder.string());
  }
  if (std::filesystem::is_directory(path)) fail("'{}' is a folder; name a file", path);
}

// y.npy, y.1.npy, y.2.npy …
std::vector<NamedArray> named_outputs(const std::string& path, TorchForwardResult result) {
  std::vector<NamedArray> outputs;
  for (size_t s = 0; s < result.features.size(); ++s) {
    const auto name = std::filesystem::path(path).replace_extension(fmt::format("{}.npy", s + 1));
    outputs.push_back({name.string(), std::move(result.features[s])});
  }
  outputs.push_back({path, std::move(result.logits)});
  return outputs;
}

TorchForward request_of(const Options& options) {
  if (options.model.weights.empty() && options.model.model.empty()) {
    fail_usage("--weights or --model is required; see `soft forward --help`");
  }
  const ChosenModel chosen = choose_model(options.model);
  TorchForward request;
  request.weights = options.model.weights;
  request.weights_key = options.model.weights_key;
  request.seed = options.seed;
  request.spec = with_changes(chosen.card.spec, options.model);
  if (chosen.weights) check_fit(*chosen.weights, request.spec);
  request.input = read_input(options.input, chosen.card);
  check_image(request.spec, {request.input.shape[2], request.input.shape[3]});
  request.features = options.features;
  request.threads = threads();
  return request;
}

void run(const Options& options) {
  check_engine(options.engine);
  check_output(options.output);
  const TorchForward request = request_of(options);
  const auto outputs = named_outputs(options.output, torch_wing().forward(request));
  write_npy(outputs);
  for (const NamedArray& output : outputs) {
    log("wrote '{}' {}", output.path, shape_text(output.array.shape));
  }
}

}  // namespace

void add_forward(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = add_command(
      app, {"forward", "Run", "Run a model on a tensor or a picture and write its logits",
            "soft forward --weights model.safetensors --input batch.npy --output logits.npy\n"
            "soft forward --model soft-nano --input photo.png --output logits.npy --features"});
  CLI::Option* weights =
      command->add_option("--weights", options->model.weights, "A .safetensors or .pth file")
          ->option_text("FILE");
  add_model_flag(command, options->model);
  command->add_option("--seed", options->seed, "Without --weights: seed of the random weights")
      ->excludes(weights)
      ->option_text("N");
  command
      ->add_option("--input", options->input,
                   "Float32 N x 3 x H x W, normalised (.npy), or a JPEG, PNG or WebP picture")
      ->required()
      ->type_name("FILE");
  command->add_option("--output", options->output, "Logits, N x classes (.npy)")
      ->required()
      ->type_name("FILE");
  command->add_flag("--features", options->features,
                    "Also write the feature map of each stage, N x C x H x W, as OUTPUT.1.npy …");
  command->add_option("--engine", options->engine, "torch (the only one in this version)")
      ->type_name("NAME");
  add_change_flags(command, options->model);
  add_weights_key_flag(command, options->model);
  command->callback([options] { run(*options); });
}

}  // namespace soft
