#include "serve/serve.h"

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/parallel.h"
#include "cli/boxed.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/runner.h"

namespace soft {
namespace {

struct Options {
  ModelOptions model;
  Address address;
  int workers = 0;  // 0: one for each thread
  int max_batch = 8;
  double max_wait_ms = 1;
};

ServedModel open_model(ModelOptions options) {
  if (options.weights.empty()) options.weights = boxed_weights();
  const LoadedModel model = load_model(options);
  const std::string obstacle = native_obstacle(model.card.spec);
  if (!obstacle.empty()) {
    fail("{}; the server runs on the native engine alone, so serve another model", obstacle);
  }
  return {Packed(model.weights, model.card.spec), preprocessing_of(model.card),
          model.card.class_names};
}

void run(const Options& options) {
  ServeOptions serving;
  serving.address = options.address;
  serving.crew.workers = options.workers > 0 ? options.workers : threads();
  serving.crew.most = static_cast<size_t>(options.max_batch);
  serving.crew.patience =
      std::chrono::microseconds(static_cast<int64_t>(1000 * options.max_wait_ms));
  serving.threads_each = std::max(1, threads() / serving.crew.workers);
  serve(open_model(options.model), serving);
}

void add_crew_flags(CLI::App* command, Options& options) {
  command
      ->add_option("--workers", options.workers,
                   "Threads that run the model, each with its share of --threads (default: as many "
                   "as --threads)")
      ->check(CLI::Range(1, 256).description(""))
      ->type_name("N");
  command
      ->add_option("--max-batch", options.max_batch,
                   "Pictures that a worker takes at once, 1 for no batches (default: 8)")
      ->check(CLI::Range(1, 64).description(""))
      ->type_name("N");
  command
      ->add_option("--max-wait-ms", options.max_wait_ms,
                   "How long a picture waits for others to share its batch (default: 1)")
      ->check(finite_number())
      ->check(CLI::Range(0.0, 1000.0).description(""))
      ->type_name("MS");
}

}  // namespace

void add_serve(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      add_command(app, {"serve", "Run", "Serve the model over HTTP, with a page to explore it",
                        "soft serve\n"
                        "soft serve --weights runs/flowers/best.safetensors --port 9000"});
  add_weights_flag(command, options->model);
  add_model_flag(command, options->model);
  command
      ->add_option("--host", options->address.host,
                   "Address to listen on (default: 127.0.0.1, this machine alone)")
      ->type_name("IP");
  command
      ->add_option("--port", options->address.port,
                   "Port to listen on, 0 for any that is free (default: 8080)")
      ->check(CLI::Range(0, 65535).description(""))
      ->type_name("N");
  add_crew_flags(command, *options);
  add_change_flags(command, options->model);
  add_weights_key_flag(command, options->model);
  command->callback([options] { run(*options); });
}

}  // namespace soft
