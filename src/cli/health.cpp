// `soft health`: what each attention layer of a trained model does, and what it is worth.
#include <fmt/core.h>

#include <memory>

#include "base/error.h"
#include "base/parallel.h"
#include "cli/chart_file.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/data_options.h"
#include "cli/model_options.h"
#include "cli/pictures.h"
#include "cli/progress.h"
#include "facade/input.h"
#include "facade/runner.h"
#include "metric/evaluate.h"
#include "plot/chart.h"
#include "study/pointing.h"
#include "study/table.h"
#include "wing/wing.h"

namespace soft {
namespace {

struct HealthOptions {
  ModelOptions model;
  std::vector<std::string> pictures;
  std::string data;
  std::string split = "val";
  int64_t limit = 0;    // of the pictures that accuracy is judged on
  int64_t images = 16;  // that the heads are looked at with
  std::string plot;
  bool json = false;
};

constexpr int64_t kHealthBatch = 64;

Loader health_loader(const HealthOptions& options, const Card& card, const std::string& data,
                     int64_t limit) {
  DataRequest request;
  request.spec = data;
  request.split = split_of(options.split);
  request.limit = limit;
  request.size = card.spec.image_size;
  LoaderOptions loading;
  loading.batch = std::min<int64_t>(kHealthBatch, limit > 0 ? limit : kHealthBatch);
  loading.preprocessing = preprocessing_of(card);
  return Loader(open_dataset(request), loading);
}

struct HealthPixels {
  std::vector<float> values;  // [count, 3, size, size]
  int64_t count = 0;
  Grid size;
};

HealthPixels pixels_of_files(const HealthOptions& options, const Card& card) {
  HealthPixels pixels;
  const Preprocessing preprocessing = preprocessing_of(card);
  pixels.size = {preprocessing.size, preprocessing.size};
  each_batch(find_pictures(options.pictures, false), preprocessing, [&](const PictureBatch& batch) {
    for (const Picture& entry : batch.entries) {
      if (!entry.error.empty()) fail("{}", entry.error);
    }
    pixels.count += batch.count;
    pixels.values.insert(pixels.values.end(), batch.pixels.begin(), batch.pixels.end());
  });
  return pixels;
}

HealthPixels health_pixels(const HealthOptions& options, const Card& card) {
  if (!options.pictures.empty()) return pixels_of_files(options, card);
  const std::string data = options.data.empty() ? "shapes" : options.data;
  Loader loader = health_loader(options, card, data, options.images);
  loader.start(0);
  const Batch* batch = loader.next();
  if (batch == nullptr) fail("'{}' has no pictures", data);
  return {batch->pixels, batch->count, {batch->size, batch->size}};
}

double top1_without(const HealthAnswers& answers, Loader& loader, const Silence& parts,
                    const std::string& what) {
  ProgressLine progress;
  EvaluateOptions how;
  how.progress = [&](int64_t done, int64_t images) {
    progress.show(fmt::format("{}: {}/{} images", what, done, images), share_of(done, images));
  };
  const auto logits = [&](const Batch& batch) {
    return answers.logits_without({batch.pixels.data(), batch.count, {batch.size, batch.size}},
                                  parts);
  };
  const double top1 = evaluate(loader, logits, how).top1;
  return top1;
}

// The rows with what each layer is worth, and what all of them are.
Json worth_of(const HealthOptions& options, const Card& card, const HealthAnswers& answers,
              Json rows) {
  Loader loader = health_loader(options, card, options.data, options.limit);
  if (loader.dataset().class_count() != card.spec.classes) {
    fail("'{}' has {} classes, the weights have {}", options.data, loader.dataset().class_count(),
         card.spec.classes);
  }
  double without = 0;
  for (Json& row : rows) {
    const int stage = row.at("stage"), layer = row.at("layer");
    if (row.at("head") == 1) {
      without = top1_without(answers, loader, {stage, layer, true, false},
                             fmt::format("without stage {} layer {}", stage, layer));
    }
    row["top1_without"] = without;
  }
  bool value_path = false;
  for (int s = 0; s < static_cast<int>(card.spec.stages.size()); ++s) {
    value_path = value_path || attention_of(card.spec, s).value_kernel > 0;
  }
  Json answer{{"layers", rows}, {"images", loader.dataset().size()}};
  answer["top1"] = top1_without(answers, loader, {}, "whole");
  answer["top1_without_attention"] =
      top1_without(answers, loader, {0, 0, true, false}, "without attention");
  answer["top1_without_value_path"] = nullptr;
  if (value_path) {
    answer["top1_without_value_path"] =
        top1_without(answers, loader, {0, 0, false, true}, "without the value path");
  }
  return answer;
}

// Only `cue` knows where its parts are: two columns say how often a head finds the right one.
void add_pointing(const HealthOptions& options, const LoadedModel& model, Json& rows) {
  const Split split = split_of(options.split);
  const int64_t most = open_cue({model.card.spec.image_size, 0}, split).size();
  const int64_t pictures = options.limit > 0 ? std::min(options.limit, most) : most;
  const Runner runner(model, choose_engine("", model.card.spec));
  ProgressLine progress;
  const std::vector<Pointing> heads =
      pointing(runner.spec(), preprocessing_of(runner.card()), runner.answers(), split, pictures,
               [&](int64_t done) {
                 progress.show(fmt::format("where heads look: {}/{} images", done, pictures),
                               share_of(done, pictures));
               });
  for (Json& row : rows) {
    for (const Pointing& head : heads) {
      if (row.at("stage") != head.stage || row.at("layer") != head.layer ||
          row.at("head") != head.head) {
        continue;
      }
      row["from_cue"] = head.from_cue;
      row["to_cue"] = head.to_cue;
    }
  }
}

// One group a layer; share is drawn as it is where it can be seen, idle layers have no bar.
Drawing health_chart(const Json& rows, const std::string& model) {
  LineChart chart;
  chart.title = fmt::format("What the attention of {} does", model);
  chart.x = {"layer", false, {}, {}};
  chart.y = {"rms(Y) / rms(V), and correlation of distant rows", true, {}, {}};
  chart.series = {{"share", {}}, {"row correlation", {}, true}, {"median of K1", {}}};
  double layer = 0;
  for (const Json& row : rows) {
    if (row.at("head") == 1) ++layer;
    const char* keys[] = {"share", "row_correlation", "kernel_median"};
    for (size_t i = 0; i < 3; ++i) {
      if (row.at(keys[i]).is_number()) {
        chart.series[i].points.push_back({layer, row.at(keys[i]).get<double>()});
      }
    }
  }
  return draw(chart);
}

std::string short_number(const Json& value) {
  if (value.is_null()) return "-";
  return value.is_number_float() ? fmt::format("{:.3g}", value.get<double>()) : value.dump();
}

void print_health(const Json& rows, const Json& worth) {
  Json text = Json::array();
  for (const Json& row : rows) {
    Json line = Json::object();
    for (const auto& [key, value] : row.items()) line[key] = short_number(value);
    text.push_back(line);
  }
  fmt::print("{}", table_of(text));
  for (const Json& row : rows) {
    if (row.at("head") != 1 || !row.at("share").is_number()) continue;
    if (row.at("share").get<double>() < kIdleShare) {
      fmt::print("stage {} layer {} idles: its first head adds {:.1e} of what V has\n",
                 row.at("stage").get<int>(), row.at("layer").get<int>(),
                 row.at("share").get<double>());
    }
  }
  if (worth.is_null()) return;
  fmt::print("\ntop-1 {:.2f} %, without attention {:.2f} %", worth.at("top1").get<double>(),
             worth.at("top1_without_attention").get<double>());
  if (worth.at("top1_without_value_path").is_number()) {
    fmt::print(", without the value path {:.2f} %",
               worth.at("top1_without_value_path").get<double>());
  }
  fmt::print(" ({} images)\n", worth.at("images").get<int64_t>());
}

void run(const HealthOptions& options) {
  if (!options.plot.empty()) check_chart_file(options.plot);
  if (!options.pictures.empty() && !options.data.empty()) {
    fail_usage("--data and pictures are two ways to say what to look at; give one of them");
  }
  const LoadedModel model = load_model(options.model);
  const HealthAnswers answers =
      torch_wing().examine({model.weights, model.card.spec, threads(), true});
  const HealthPixels pixels = health_pixels(options, model.card);
  Json rows = Json::array();
  for (const HeadHealth& row : answers.heads({pixels.values.data(), pixels.count, pixels.size})) {
    rows.push_back(to_json(row));
  }
  Json worth;
  if (!options.data.empty()) {
    worth = worth_of(options, model.card, answers, rows);
    rows = worth.at("layers");
    if (options.data == "cue") {
      add_pointing(options, model, rows);
      worth["layers"] = rows;
    }
  }
  if (!options.plot.empty()) write_chart(options.plot, health_chart(rows, model.card.spec.name));
  if (options.json) return print_json(worth.is_null() ? rows : worth);
  print_health(rows, worth);
}

}  // namespace

void add_health(CLI::App& app) {
  auto options = std::make_shared<HealthOptions>();
  CLI::App* command = add_command(
      app, {"health", "Run", "What each attention layer does, and what it is worth",
            "soft health model.safetensors photo.png\n"
            "soft health model.safetensors --data shapes --limit 100 --plot health.svg"});
  command->add_option("weights", options->model.weights, "A .safetensors or .pth file")
      ->required()
      ->type_name("WEIGHTS");
  command->add_option("pictures", options->pictures, "Pictures or folders to look at")
      ->type_name("IMAGE...");
  command
      ->add_option("--data", options->data,
                   "Look at these, and judge what is lost without each layer: cifar10, folder:DIR, "
                   "… (default: shapes, and no judgement)")
      ->type_name("DATA");
  command->add_option("--split", options->split, "train or val (default)")->type_name("NAME");
  command->add_option("--limit", options->limit, "Judge on at most N pictures (default: all)")
      ->type_name("N");
  command
      ->add_option("--images", options->images, "Look at the heads with N pictures (default: 16)")
      ->check(CLI::Range(1, 1024).description(""))
      ->type_name("N");
  add_model_flag(command, options->model);
  add_change_flags(command, options->model);
  add_weights_key_flag(command, options->model);
  command->add_option("--plot", options->plot, "Draw shares and correlations (.svg or .png)")
      ->type_name("FILE");
  add_json_flag(command, options->json);
  command->callback([options] { run(*options); });
}

}  // namespace soft
