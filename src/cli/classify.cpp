#include <fmt/core.h>

#include <memory>

#include "base/error.h"
#include "base/log.h"
#include "base/printable.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/data_options.h"
#include "cli/model_options.h"
#include "cli/pictures.h"
#include "cli/progress.h"
#include "cli/sequences.h"
#include "facade/input.h"
#include "facade/runner.h"
#include "metric/probability.h"

namespace soft {
namespace {

struct ClassifyOptions {
  ModelOptions model;
  std::vector<std::string> inputs;
  std::string engine;
  int top = 5;
  int size = 0;  // 0: the model's own
  bool strict = false;
  bool json = false;
};

struct Answer {
  std::string file;
  std::string error;  // empty when the picture could be read
  std::vector<Ranked> top;
};

// Pictures that could be read go through the model together.
std::vector<Answer> answers_of(const PictureBatch& batch, const Runner& runner, Grid size,
                               int top) {
  std::vector<float> logits;
  if (batch.count > 0) logits = runner.logits({batch.pixels.data(), batch.count, size});
  const int64_t classes = runner.spec().classes;
  std::vector<Answer> answers;
  const float* own = logits.data();
  for (const auto& [file, error] : batch.entries) {
    answers.push_back({file, error, {}});
    if (!error.empty()) continue;
    answers.back().top = top_classes(own, classes, top);
    own += classes;
  }
  return answers;
}

Json json_of(const Answer& answer, const Card& card) {
  if (!answer.error.empty()) return {{"file", answer.file}, {"error", answer.error}};
  Json top = Json::array();
  for (const Ranked& ranked : answer.top) {
    top.push_back({{"class", ranked.index},
                   {"name", class_name(card, ranked.index)},
                   {"p", ranked.probability}});
  }
  return {{"file", answer.file}, {"top", top}};
}

void print_answer(const Answer& answer, const Card& card) {
  if (!answer.error.empty()) return log_line(answer.error);
  fmt::print("{}\n", shown(answer.file));
  for (const Ranked& ranked : answer.top) {
    fmt::print("  {:6.2f} %  {}\n", 100 * ranked.probability,
               shown(class_name(card, ranked.index)));
  }
}

// A model of sequences reads texts, not pictures.
bool answer_texts(const ClassifyOptions& options) {
  if (!is_sequence_model(options.model)) return false;
  classify_texts(open_sequence_runner(options.model, options.engine),
                 {options.inputs, options.top, options.json});
  return true;
}

void run(const ClassifyOptions& options) {
  if (answer_texts(options)) return;
  const std::vector<Picture> pictures = find_pictures(options.inputs, options.strict);
  const Runner runner = open_runner(options.model, options.engine);
  check_own_size(runner.card(), options.size);
  Json rows = Json::array();
  size_t done = 0, unreadable = 0;
  ProgressLine progress;
  const Preprocessing preprocessing = preprocessing_of(runner.card(), options.size);
  each_batch(pictures, preprocessing, [&](const PictureBatch& batch) {
    const std::vector<Answer> answers =
        answers_of(batch, runner, {preprocessing.size, preprocessing.size}, options.top);
    progress.clear();
    for (const Answer& answer : answers) {
      if (!answer.error.empty()) ++unreadable;
      if (options.json) rows.push_back(json_of(answer, runner.card()));
      if (!options.json) print_answer(answer, runner.card());
    }
    done += answers.size();
    progress.show(fmt::format("{}/{} pictures", done, pictures.size()),
                  share_of(done, pictures.size()));
  });
  progress.clear();
  if (options.json) print_json(rows);
  if (unreadable > 0) fail("{} of {} pictures could not be read", unreadable, pictures.size());
}

}  // namespace

void add_classify(CLI::App& app) {
  auto options = std::make_shared<ClassifyOptions>();
  CLI::App* command =
      add_command(app, {"classify", "Run", "Say what is in a picture",
                        "soft classify photo.jpg\n"
                        "soft classify --weights runs/flowers/best.safetensors --top 3 folder/\n"
                        "cat photo.jpg | soft classify --json -"});
  command
      ->add_option(
          "images", options->inputs,
          "Pictures, folders, or - for standard input; texts where the weights are of sequences")
      ->required()
      ->type_name("IMAGE...");
  add_strict_flag(command, options->strict);
  add_own_size_flag(command, options->size);
  add_weights_flag(command, options->model);
  add_model_flag(command, options->model);
  command->add_option("--top", options->top, "How many classes to name (default: 5)")
      ->check(CLI::Range(1, 100000).description(""))
      ->type_name("N");
  add_engine_flag(command, options->engine);
  add_change_flags(command, options->model);
  add_weights_key_flag(command, options->model);
  add_json_flag(command, options->json);
  command->callback([options] { run(*options); });
}

}  // namespace soft
