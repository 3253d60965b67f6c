#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>

#include "base/error.h"
#include "base/log.h"
#include "base/parallel.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/runner.h"
#include "image/codec.h"
#include "metric/probability.h"

namespace soft {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBatch = 8;

struct Options {
  ModelOptions model;
  std::vector<std::string> inputs;
  std::string engine = "torch";
  int top = 5;
  bool json = false;
};

struct Answer {
  std::string file;
  std::string error;  // empty when the picture could be read
  std::vector<float> pixels;
  std::vector<Ranked> top;
};

// Folders are walked; every regular file in them counts. Sorted, so that runs compare.
std::vector<std::string> files_of(const std::vector<std::string>& inputs) {
  std::vector<std::string> files;
  for (const std::string& input : inputs) {
    if (input == "-" || !fs::is_directory(input)) {
      files.push_back(input);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : fs::recursive_directory_iterator(input)) {
      if (entry.is_regular_file()) inside.push_back(entry.path().string());
    }
    if (inside.empty()) fail("there is no file in '{}'", input);
    std::sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

Image read_upright(const std::string& file) {
  if (file != "-") return read_image(file, {true});
  const std::string bytes(std::istreambuf_iterator<char>(std::cin), {});
  return decode_image(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), "stdin",
                      {true});
}

void read_picture(Answer& answer, const Preprocessing& preprocessing) {
  try {
    const Image image = evaluation_crop(read_upright(answer.file), preprocessing);
    answer.pixels.resize(image.rgb.size());
    normalise(image, preprocessing, answer.pixels.data());
  } catch (const Error& error) {
    answer.error = error.what();
  }
}

// Pictures that could be read go through the model together.
void answer_batch(std::vector<Answer>& answers, const Runner& runner, int top) {
  const Preprocessing preprocessing = preprocessing_of(runner.card);
  parallel_for(static_cast<int64_t>(answers.size()), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) read_picture(answers[i], preprocessing);
  });
  std::vector<float> pixels;
  std::vector<Answer*> readable;
  for (Answer& answer : answers) {
    if (!answer.error.empty()) continue;
    pixels.insert(pixels.end(), answer.pixels.begin(), answer.pixels.end());
    readable.push_back(&answer);
  }
  if (readable.empty()) return;
  const Grid size{preprocessing.size, preprocessing.size};
  const auto logits = runner.logits(pixels.data(), static_cast<int64_t>(readable.size()), size);
  const size_t classes = logits.size() / readable.size();
  for (size_t i = 0; i < readable.size(); ++i) {
    readable[i]->top = top_classes(logits.data() + i * classes, static_cast<int64_t>(classes), top);
  }
}

std::string class_name(const Card& card, int64_t index) {
  const auto& names = card.class_names;
  return index < static_cast<int64_t>(names.size()) ? names[index] : fmt::format("class {}", index);
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
  fmt::print("{}\n", answer.file);
  for (const Ranked& ranked : answer.top) {
    fmt::print("  {:6.2f} %  {}\n", 100 * ranked.probability, class_name(card, ranked.index));
  }
}

void run(const Options& options) {
  const std::vector<std::string> files = files_of(options.inputs);
  const Runner runner = open_runner(options.model, options.engine);
  Json rows = Json::array();
  size_t unreadable = 0;
  for (size_t first = 0; first < files.size(); first += kBatch) {
    std::vector<Answer> answers(std::min(kBatch, files.size() - first));
    for (size_t i = 0; i < answers.size(); ++i) answers[i].file = files[first + i];
    answer_batch(answers, runner, options.top);
    for (const Answer& answer : answers) {
      if (!answer.error.empty()) ++unreadable;
      if (options.json) rows.push_back(json_of(answer, runner.card));
      if (!options.json) print_answer(answer, runner.card);
    }
  }
  if (options.json) print_json(rows);
  if (unreadable > 0) fail("{} of {} pictures could not be read", unreadable, files.size());
}

}  // namespace

void add_classify(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      add_command(app, {"classify", "Run", "Say what is in a picture",
                        "soft classify photo.jpg\n"
                        "soft classify --weights runs/flowers/best.safetensors --top 3 folder/\n"
                        "cat photo.jpg | soft classify --json -"});
  command->add_option("images", options->inputs, "Pictures, folders, or - for standard input")
      ->required()
      ->type_name("IMAGE...");
  command
      ->add_option("--weights", options->model.weights,
                   "A .safetensors or .pth file (default: the model in the box)")
      ->type_name("FILE");
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
