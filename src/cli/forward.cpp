#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "facade/input.h"
#include "facade/runner.h"

namespace soft {
namespace {

struct ForwardOptions {
  ModelOptions model;
  uint64_t seed = 0;
  std::string input;
  std::string output;
  std::string engine;
  bool features = false;
};

// y.npy, y.1.npy, y.2.npy …
std::vector<NamedArray> answer(const Runner& runner, const Array& input,
                               const ForwardOptions& options) {
  const int64_t count = input.shape[0];
  const ImageBatch images{input.data.data(), count, {input.shape[2], input.shape[3]}};
  std::vector<NamedArray> outputs;
  if (options.features) {
    for (Array& map : runner.features(images)) {
      const auto number = fmt::format("{}.npy", outputs.size() + 1);
      const auto path = std::filesystem::path(options.output).replace_extension(number);
      outputs.push_back({path.string(), std::move(map)});
    }
  }
  Array logits{{count, runner.spec().classes}, runner.logits(images)};
  outputs.push_back({options.output, std::move(logits)});
  return outputs;
}

void run(const ForwardOptions& options) {
  if (options.model.weights.empty() && options.model.model.empty()) {
    fail_usage("--weights or --model is required; see `soft forward --help`");
  }
  check_output(options.output);
  const LoadedModel model = load_model(options.model, options.seed);
  const Engine engine = choose_engine(options.engine, model.card.spec);
  const Array input = read_input(options.input, model.card);
  check_image(model.card.spec, {input.shape[2], input.shape[3]});
  const auto outputs = answer(Runner(model, engine), input, options);
  write_npy(outputs);
  for (const NamedArray& output : outputs) {
    log("wrote '{}' {}", output.path, shape_text(output.array.shape));
  }
}

}  // namespace

void add_forward(CLI::App& app) {
  auto options = std::make_shared<ForwardOptions>();
  CLI::App* command = add_command(
      app, {"forward", "Run", "Run a model on a tensor or a picture and write its logits",
            "soft forward --weights model.safetensors --input batch.npy --output logits.npy\n"
            "soft forward --model soft-nano --input photo.png --output logits.npy --features"});
  CLI::Option* weights =
      command->add_option("--weights", options->model.weights, "A .safetensors or .pth file")
          ->option_text("FILE");
  add_model_flag(command, options->model);
  command->add_option("--seed", options->seed, "Without --weights: seed of the random weights")
      ->check(whole_number())
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
  add_engine_flag(command, options->engine);
  add_change_flags(command, options->model);
  add_weights_key_flag(command, options->model);
  command->callback([options] { run(*options); });
}

}  // namespace soft
