#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/log.h"
#include "base/printable.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/runner.h"
#include "metric/evaluate.h"

namespace soft {
namespace {

struct Options {
  ModelOptions model;
  std::string data;
  std::string engine;
  std::string crop;
  std::string predictions;
  int64_t limit = 0;
  int64_t batch = 64;
  int workers = 1;
  bool per_class = false;
  bool json = false;
};

// The paper resizes the short side to 256 for 224, the released code to 248.
double crop_fraction(const std::string& name) {
  return parse_name("crop", name, {"paper", "released"}) == 0 ? 0.875 : 0.9;
}

void check_classes(const Dataset& dataset, const Card& card) {
  if (dataset.class_count() != card.spec.classes) {
    fail("'{}' has {} classes, the weights have {}; evaluate on the set they were trained for",
         dataset.name, dataset.class_count(), card.spec.classes);
  }
}

// ImageNet's folders have WordNet's names, "n01440764", where the weights say "tench".
bool is_synset(const std::string& name) {
  return name.size() == 9 && name[0] == 'n' &&
         name.find_first_not_of("0123456789", 1) == std::string::npos;
}

// As many classes need not be the same ones.
void compare_names(const Dataset& dataset, const Card& card) {
  const auto agree = [](const std::string& ours, const std::string& theirs) {
    return ours == theirs || is_synset(theirs);
  };
  const auto& names = card.class_names;
  const auto [ours, theirs] = std::mismatch(names.begin(), names.end(), dataset.classes.begin(),
                                            dataset.classes.end(), agree);
  if (ours == names.end() || theirs == dataset.classes.end()) return;
  log("class {} is '{}' in the weights and '{}' in '{}'; unless both mean the same, the accuracy "
      "says nothing",
      ours - names.begin(), printable(*ours), printable(*theirs), dataset.name);
}

Loader make_loader(const Options& options, const Card& card) {
  DataRequest request;
  request.spec = options.data;
  request.split = Split::kValidation;
  request.limit = options.limit;
  request.size = card.spec.image_size;
  Dataset dataset = open_dataset(request);
  check_classes(dataset, card);
  compare_names(dataset, card);
  LoaderOptions loading;
  loading.batch = options.batch;
  loading.workers = options.workers;
  loading.preprocessing = preprocessing_of(card);
  return Loader(std::move(dataset), loading);
}

void print_table(const Evaluation& result, const Dataset& dataset, bool per_class) {
  fmt::print("top-1 {:.2f} %  top-5 {:.2f} %  loss {:.4f}  {} images in {:.1f} s\n", result.top1,
             result.top5, result.loss, result.images, result.seconds);
  if (!per_class) return;
  for (size_t i = 0; i < result.per_class.size(); ++i) {
    const ClassTally& tally = result.per_class[i];
    fmt::print("  {:>6} %  {:>6} images  {}\n",
               tally.images > 0 ? fmt::format("{:.2f}", tally.accuracy()) : "-", tally.images,
               dataset.classes[i]);
  }
}

Json json_of(const Evaluation& result, const Dataset& dataset) {
  Json classes = Json::array();
  for (size_t i = 0; i < result.per_class.size(); ++i) {
    const ClassTally& tally = result.per_class[i];
    classes.push_back({{"class", i},
                       {"name", dataset.classes[i]},
                       {"images", tally.images},
                       {"top1", tally.images > 0 ? Json(tally.accuracy()) : Json()}});
  }
  return {{"top1", result.top1},     {"top5", result.top5},     {"loss", result.loss},
          {"images", result.images}, {"broken", result.broken}, {"seconds", result.seconds},
          {"per_class", classes}};
}

void run(const Options& options) {
  if (!options.predictions.empty()) check_output(options.predictions);
  Runner runner = open_runner(options.model, options.engine);
  if (!options.crop.empty()) runner.card.crop_fraction = crop_fraction(options.crop);
  Loader loader = make_loader(options, runner.card);
  ProgressLine progress;
  EvaluateOptions how;
  how.predictions = !options.predictions.empty();
  how.progress = [&](int64_t done, int64_t images) {
    progress.show(fmt::format("{}/{} images", done, images));
  };
  const auto logits = [&](const Batch& batch) {
    return runner.logits(batch.pixels.data(), batch.count, {batch.size, batch.size});
  };
  const Evaluation result = evaluate(loader, logits, how);
  progress.clear();
  if (how.predictions) write_predictions(options.predictions, loader.dataset(), result.predictions);
  if (options.json) return print_json(json_of(result, loader.dataset()));
  print_table(result, loader.dataset(), options.per_class);
}

}  // namespace

void add_eval(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      add_command(app, {"eval", "Run", "Accuracy on a validation set",
                        "soft eval --data cifar10\n"
                        "soft eval --data folder:flowers --weights runs/flowers/best.safetensors "
                        "--per-class"});
  command
      ->add_option("--data", options->data,
                   "cifar10[:DIR], mnist, fashion-mnist, idx:DIR, folder:DIR or shapes")
      ->required();
  add_weights_flag(command, options->model);
  add_model_flag(command, options->model);
  command->add_option("--crop", options->crop,
                      "paper (256 for 224) or released (248); default: as trained");
  command->add_option("--predictions", options->predictions, "Write every answer to this CSV file")
      ->type_name("FILE");
  command->add_flag("--per-class", options->per_class, "Accuracy of each class, too");
  command->add_option("--limit-val", options->limit, "At most N pictures")->type_name("N");
  command->add_option("--batch", options->batch, "Pictures at a time")
      ->check(CLI::Range(1, 4096).description(""));
  command->add_option("--workers", options->workers, "Threads that read pictures")
      ->check(CLI::Range(1, 64).description(""));
  add_engine_flag(command, options->engine);
  add_change_flags(command, options->model);
  add_weights_key_flag(command, options->model);
  add_json_flag(command, options->json);
  command->callback([options] { run(*options); });
}

}  // namespace soft
