#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "base/printable.h"
#include "cli/chart_file.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/data_options.h"
#include "cli/eval_report.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/sequences.h"
#include "facade/input.h"
#include "facade/runner.h"
#include "metric/evaluate.h"

namespace soft {
namespace {

struct EvalOptions {
  ModelOptions model;
  std::string data;
  std::string engine;
  std::string crop;
  std::string predictions, csv, plot;
  std::string split = "val";
  int size = 0;  // 0: the model's own
  int64_t limit = 0;
  double val_fraction = 0;  // 0: the set's own, or the usual part of a folder without val/
  bool strict = false;
  int64_t batch = 64;
  int workers = 1;
  ReportChoice report;
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

// A folder's classes stand in the order of the alphabet: the same names are put into the weights'.
void adopt_order(Dataset& dataset, const Card& card) {
  const auto& names = card.class_names;
  const std::set<std::string> ours(names.begin(), names.end());
  const std::set<std::string> theirs(dataset.classes.begin(), dataset.classes.end());
  if (names == dataset.classes || ours != theirs || ours.size() < names.size()) return;
  for (int& label : dataset.labels) {
    const auto name = std::find(names.begin(), names.end(), dataset.classes[label]);
    label = static_cast<int>(name - names.begin());
  }
  dataset.classes = names;
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

// Nobody named these pictures: a run that held out fewer has seen some of them.
void tell_division(const EvalOptions& options, const Dataset& dataset) {
  if (dataset.held_out == 0 || options.val_fraction > 0) return;
  log("'{}' has no val/: {:g} % of each class count as held out, as in `soft train`; "
      "--val-fraction X when that was told another part",
      options.data, 100 * dataset.held_out);
}

Loader make_loader(const EvalOptions& options, const Card& card) {
  DataRequest request;
  request.spec = options.data;
  request.split = split_of(options.split);
  request.limit = options.limit;
  request.val_fraction = options.val_fraction;
  request.strict = options.strict;
  request.size = options.size > 0 ? options.size : card.spec.image_size;
  Dataset dataset = open_dataset(request);
  check_classes(dataset, card);
  adopt_order(dataset, card);
  compare_names(dataset, card);
  tell_division(options, dataset);
  LoaderOptions loading;
  loading.batch = options.batch;
  loading.workers = options.workers;
  loading.preprocessing = preprocessing_of(card, options.size);
  return Loader(std::move(dataset), loading);
}

// Whatever cannot be written is said before the work begins.
void check_outputs(const EvalOptions& options) {
  if (!options.predictions.empty()) check_output(options.predictions);
  if (!options.csv.empty()) check_output(options.csv);
  if (!options.plot.empty()) check_chart_file(options.plot);
}

void check_matrix(const EvalOptions& options, const Dataset& dataset) {
  const auto classes = static_cast<size_t>(dataset.class_count());
  if (options.plot.empty() || classes <= kLargestMatrix) return;
  fail("a matrix of {} classes is no picture; --csv FILE writes it as numbers", classes);
}

void write_files(const EvalOptions& options, const Evaluation& result, const Dataset& dataset) {
  if (!options.predictions.empty()) {
    write_predictions(options.predictions, dataset, result.predictions);
  }
  if (!options.csv.empty()) write_confusion(options.csv, dataset.classes, result.confusion);
  if (!options.plot.empty()) write_chart(options.plot, draw(chart_of(result, dataset)));
}

Evaluation evaluate_with(const Runner& runner, Loader& loader, bool predictions) {
  ProgressLine progress;
  EvaluateOptions how;
  how.predictions = predictions;
  how.progress = [&](int64_t done, int64_t images) {
    progress.show(fmt::format("{}/{} images", done, images), share_of(done, images));
  };
  const auto logits = [&](const Batch& batch) {
    return runner.logits({batch.pixels.data(), batch.count, {batch.size, batch.size}});
  };
  return evaluate(loader, logits, how);
}

// A model of sequences: val stands for its test examples.
bool answer_sequences(const EvalOptions& options) {
  if (!is_sequence_model(options.model)) return false;
  const std::string part = options.split == "val" ? "test" : options.split;
  evaluate_sequences({options.model, options.engine, options.data, part, options.limit,
                      options.batch, options.json});
  return true;
}

void run(const EvalOptions& options) {
  check_outputs(options);
  if (answer_sequences(options)) return;
  const Runner runner = open_runner(options.model, options.engine);
  Card card = runner.card();
  if (!options.crop.empty()) card.crop_fraction = crop_fraction(options.crop);
  check_own_size(card, options.size);
  Loader loader = make_loader(options, card);
  check_matrix(options, loader.dataset());
  const Evaluation result = evaluate_with(runner, loader, !options.predictions.empty());
  write_files(options, result, loader.dataset());
  if (options.json) return print_json(json_of(result, loader.dataset(), options.report));
  print_report(result, loader.dataset(), options.report);
}

void add_report_flags(CLI::App* command, EvalOptions& options) {
  command->add_flag("--per-class", options.report.per_class,
                    "Precision, recall and F1 of each class, too");
  command->add_flag("--confusion", options.report.confusion,
                    "Print which classes are taken for which, too");
  command->add_option("--csv", options.csv, "Write the confusion matrix as numbers")
      ->type_name("FILE");
  command->add_option("--plot", options.plot, "Draw the confusion matrix (.svg or .png)")
      ->type_name("FILE");
  command->add_option("--predictions", options.predictions, "Write every answer to this CSV file")
      ->type_name("FILE");
  add_json_flag(command, options.json);
}

void add_data_flags(CLI::App* command, EvalOptions& options) {
  command
      ->add_option("--data", options.data,
                   "cifar10[:DIR], mnist, fashion-mnist, idx:DIR, folder:DIR, tar:DIR, shapes, cue")
      ->required()
      ->type_name("DATA");
  command->add_option("--split", options.split, "train or val (default)")->type_name("NAME");
  command->add_option("--limit-val,--limit", options.limit, "At most N pictures")->type_name("N");
  command
      ->add_option("--val-fraction", options.val_fraction,
                   "Part that training held out (default: 0.1 of a folder without val/)")
      ->type_name("X");
  add_strict_flag(command, options.strict);
  add_own_size_flag(command, options.size);
  command
      ->add_option("--crop", options.crop,
                   "paper (256 for 224) or released (248); default: as trained")
      ->type_name("NAME");
  command->add_option("--batch", options.batch, "Pictures at a time (default: 64)")
      ->check(CLI::Range(1, 4096).description(""))
      ->type_name("N");
  command->add_option("--workers", options.workers, "Threads that read pictures (default: 1)")
      ->check(CLI::Range(1, 64).description(""))
      ->type_name("N");
}

}  // namespace

void add_eval(CLI::App& app) {
  auto options = std::make_shared<EvalOptions>();
  CLI::App* command =
      add_command(app, {"eval", "Run", "Accuracy on a validation set",
                        "soft eval --data cifar10 --confusion --plot confusion.png\n"
                        "soft eval --data folder:flowers --weights runs/flowers/best.safetensors "
                        "--per-class"});
  add_data_flags(command, *options);
  add_weights_flag(command, options->model);
  add_model_flag(command, options->model);
  add_report_flags(command, *options);
  add_engine_flag(command, options->engine);
  add_change_flags(command, options->model);
  add_weights_key_flag(command, options->model);
  command->callback([options] { run(*options); });
}

}  // namespace soft
