// `soft quantize`: layers as bytes, the ranges of their inputs learned from pictures, and what that
// costs on others.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/log.h"
#include "base/nearest.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/quantize_report.h"
#include "data/loader.h"
#include "engine/quantize_model.h"
#include "facade/input.h"
#include "facade/runner.h"
#include "study/int8_study.h"
#include "weights/int8.h"

namespace soft {
namespace {

constexpr int64_t kFewestPictures = 8;
constexpr int64_t kFewPictures = 48;  // for the questions about single layers
constexpr int64_t kBatch = 16;

struct QuantizeOptions {
  ModelOptions model;  // model.weights is what is read
  std::string out, data;
  int64_t images = 512, check = 512;
  std::vector<std::string> keep;
  std::string ranges;
  double most_lost = 100;
  bool json = false;
};

LoadedModel load(const QuantizeOptions& options) {
  if (!options.ranges.empty()) range_rule(options.ranges);
  if (std::filesystem::path(options.out).extension() != ".safetensors") {
    fail_usage("'{}' must end in .safetensors, the only format written", options.out);
  }
  check_output(options.out);
  LoadedModel model = load_model(options.model);
  if (has_int8(model.weights)) {
    fail("'{}' holds int8 weights already; quantize the float32 weights that it was made from",
         options.model.weights);
  }
  if (model.card.spec.in_zoo()) {
    fail("only SOFT's own frames run as int8, not the family {}", model.card.spec.family);
  }
  const std::string obstacle = native_obstacle(model.card.spec);
  if (!obstacle.empty()) fail("{}, and nobody else runs int8 weights", obstacle);
  return model;
}

Loader open_loader(const QuantizeOptions& options, const Card& card, Split split, int64_t limit) {
  DataRequest request;
  request.spec = options.data;
  request.split = split;
  request.limit = limit;
  request.size = card.spec.image_size;
  LoaderOptions loading;
  loading.batch = kBatch;
  loading.workers = 1;
  loading.preprocessing = preprocessing_of(card);
  return Loader(open_dataset(request), loading);
}

// Calls use(batch) for every batch; what cannot be read is left out, with a line about the first.
template <class Use>
int64_t each_batch(Loader& loader, const std::string& what, ProgressLine& progress,
                   const Use& use) {
  int64_t done = 0, broken = 0;
  loader.start(0);
  while (const Batch* batch = loader.next()) {
    for (const BrokenPicture& picture : batch->broken) {
      if (broken++ == 0) log_once(picture.reason + "; left out");
    }
    if (batch->count > 0) use(*batch);
    done += batch->count;
    progress.show(what, share_of(done + broken, loader.dataset().size()));
  }
  return done;
}

// A picture of one colour shows what no other picture looks like.
bool one_colour(const Batch& batch, int64_t picture) {
  const int64_t plane = int64_t{batch.size} * batch.size;
  const float* pixels = batch.pixels.data() + picture * 3 * plane;
  for (int64_t c = 0; c < 3; ++c, pixels += plane) {
    const auto [least, most] = std::minmax_element(pixels, pixels + plane);
    if (*least != *most) return false;
  }
  return true;
}

std::vector<LayerInput> calibrate(const QuantizeOptions& options, const LoadedModel& loaded,
                                  ProgressLine& progress) {
  Loader loader = open_loader(options, loaded.card, Split::kTrain, options.images);
  Calibration calibration;
  const Packed model(loaded.weights, loaded.card.spec, LinearForm::kBest, calibration.watch());
  Workspace workspace;
  std::vector<float> logits(kBatch * loaded.card.spec.classes);
  int64_t colourful = 0;
  const auto see = [&](const Batch& batch) {
    for (int64_t i = 0; i < batch.count; ++i) colourful += one_colour(batch, i) ? 0 : 1;
    forward(model, workspace, {batch.pixels.data(), batch.count, {batch.size, batch.size}},
            logits.data());
  };
  const int64_t count = each_batch(loader, "extremes", progress, see);
  if (count < kFewestPictures) {
    fail("'{}' has {} training pictures that can be read; ranges need at least {}", options.data,
         count, kFewestPictures);
  }
  if (colourful < kFewestPictures) {
    fail("all but {} training pictures of '{}' are of one colour; ranges need at least {} others",
         colourful, options.data, kFewestPictures);
  }
  calibration.begin_counting();
  each_batch(loader, "ranges", progress, see);
  return calibration.inputs();
}

// Pictures that took no part in the calibration.
class HeldOut {
 public:
  HeldOut(const QuantizeOptions& options, const Card& card, ProgressLine& progress)
      : loader_(open_loader(options, card, Split::kValidation, options.check)),
        spec_(card.spec),
        progress_(progress) {
    const bool same_classes = loader_.dataset().class_count() == spec_.classes;
    if (!same_classes) {
      log("'{}' has {} classes, the weights have {}: no top-1, only agreement", options.data,
          loader_.dataset().class_count(), spec_.classes);
    }
    labelled_ = same_classes;
  }

  std::vector<float> all(const Weights& weights) {
    const Packed model(weights, spec_);
    std::vector<float> logits;
    std::vector<int64_t> labels;
    each_batch(loader_, "held-out pictures", progress_, [&](const Batch& batch) {
      append(model, batch, batch.count, logits);
      labels.insert(labels.end(), batch.labels.begin(), batch.labels.end());
      if (few_count_ < kFewPictures) keep_some(batch);
    });
    labels_ = std::move(labels);
    return logits;
  }

  // After the first call of all().
  std::vector<float> few(const Weights& weights) {
    const Packed model(weights, spec_);
    std::vector<float> logits(few_count_ * spec_.classes);
    const int64_t side = spec_.image_size;
    forward(model, workspace_, {few_pixels_.data(), few_count_, {side, side}}, logits.data());
    return logits;
  }

  const std::vector<int64_t>& labels() const { return labels_; }
  bool labelled() const { return labelled_; }

 private:
  void append(const Packed& model, const Batch& batch, int64_t count, std::vector<float>& logits) {
    const size_t at = logits.size();
    logits.resize(at + count * spec_.classes);
    forward(model, workspace_, {batch.pixels.data(), count, {batch.size, batch.size}},
            logits.data() + at);
  }

  void keep_some(const Batch& batch) {
    const int64_t count = std::min(kFewPictures - few_count_, batch.count);
    const int64_t floats = 3 * int64_t{batch.size} * batch.size;
    few_pixels_.insert(few_pixels_.end(), batch.pixels.begin(),
                       batch.pixels.begin() + count * floats);
    few_count_ += count;
  }

  Loader loader_;
  ModelSpec spec_;
  ProgressLine& progress_;
  Workspace workspace_;
  std::vector<int64_t> labels_;
  bool labelled_ = false;
  std::vector<float> few_pixels_;
  int64_t few_count_ = 0;
};

void write(const QuantizeOptions& options, const LoadedModel& loaded, const QuantizedModel& model,
           const Int8Choice& choice) {
  Card card = loaded.card;
  if (!card.extra.is_object()) card.extra = Json::object();
  Json kept = Json::array();
  for (size_t i = 0; i < model.inputs().size(); ++i) {
    if (choice.chosen.count(i) > 0) continue;
    for (const std::string& layer : model.inputs()[i].layers) kept.push_back(layer);
  }
  card.extra["int8"] = {{"ranges", name_of(choice.rule)},
                        {"images", options.images},
                        {"data", options.data},
                        {"agreement", choice.agreement.same},
                        {"kept", kept}};
  const Weights weights = model.weights(choice.rule, choice.chosen);
  write_safetensors(options.out, tensors_to_write(weights, card.spec), metadata_of(card),
                    {DType::kF16});
}

void run(const QuantizeOptions& options) {
  const LoadedModel loaded = load(options);
  ProgressLine progress;
  HeldOut held_out(options, loaded.card, progress);
  const QuantizedModel model(loaded.weights, calibrate(options, loaded, progress));
  const std::set<size_t> kept = kept_inputs(options.keep, model);
  Int8Search search;
  search.classes = loaded.card.spec.classes;
  search.most_lost = options.most_lost;
  if (!options.ranges.empty()) search.rules = {range_rule(options.ranges)};
  search.all = [&](const Weights& weights) { return held_out.all(weights); };
  search.few = [&](const Weights& weights) { return held_out.few(weights); };
  search.progress = [&](const std::string& text, double share) { progress.show(text, share); };
  search.floats = search.all(loaded.weights);
  search.few_floats = search.few(loaded.weights);
  QuantizeResult result;
  result.checked = static_cast<int64_t>(held_out.labels().size());
  if (result.checked == 0) fail("'{}' has no validation picture that can be read", options.data);
  result.choice = choose_int8(model, kept, search);
  write(options, loaded, model, result.choice);
  // What counts is the file, positions rounded to halves included.
  const std::vector<float> bytes = held_out.all(read_weights(options.out));
  progress.clear();
  result.choice.agreement = compare_answers(search.floats, bytes, search.classes);
  result.labelled = held_out.labelled();
  result.top1_fp32 = top1_of(search.floats, held_out.labels(), search.classes);
  result.top1_int8 = top1_of(bytes, held_out.labels(), search.classes);
  result.bytes = std::filesystem::file_size(options.out);
  if (options.json) return print_json(json_of(model, result));
  print_result(options.out, model, result);
}

}  // namespace

void add_quantize(CLI::App& app) {
  auto options = std::make_shared<QuantizeOptions>();
  CLI::App* command = add_command(
      app, {"quantize", "Weights", "Turn a model's layers into int8: smaller and faster",
            "soft quantize model.safetensors int8.safetensors --data shapes --check 64"});
  command
      ->add_option("in", options->model.weights, "A .safetensors or .pth file in float32 or half")
      ->required()
      ->type_name("IN");
  command->add_option("out", options->out, "A .safetensors file; replaced when it exists")
      ->required()
      ->type_name("OUT");
  command
      ->add_option("--data", options->data,
                   "Training pictures show what the layers read, validation pictures what it costs")
      ->required()
      ->type_name("DATA");
  const auto count = CLI::Range(1, 1'000'000).description("");
  command->add_option("--images", options->images, "Training pictures to look at (default: 512)")
      ->check(count)
      ->type_name("N");
  command->add_option("--check", options->check, "Validation pictures to ask (default: 512)")
      ->check(count)
      ->type_name("N");
  command
      ->add_option("--keep", options->keep,
                   "Layers that stay in float32, by name: head, block4, block1.0.att.ff1")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME[,NAME...]");
  command
      ->add_option("--ranges", options->ranges,
                   "What bytes cover: min-max, percentile or mse of what calibration saw, or "
                   "rows, in linear layers each token's own around the means (default: tries all)")
      ->type_name("RULE");
  command
      ->add_option(
          "--loss", options->most_lost,
          "Keep more layers in float32, the worst first, until at most so many per cent of "
          "the validation pictures get another answer")
      ->check(CLI::Range(0.0, 100.0).description(""))
      ->check(finite_number())
      ->type_name("P");
  add_model_flag(command, options->model);
  add_weights_key_flag(command, options->model);
  add_json_flag(command, options->json);
  command->callback([options] { run(*options); });
}

}  // namespace soft
