#include <fmt/core.h>

#include <memory>

#include "base/error.h"
#include "base/log.h"
#include "base/npy.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/data_options.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/pictures.h"
#include "cli/progress.h"
#include "facade/input.h"
#include "facade/runner.h"

namespace soft {
namespace {

struct EmbedOptions {
  ModelOptions model;
  std::vector<std::string> inputs;
  std::string out;
  std::string engine;
  int size = 0;  // 0: the model's own
  bool strict = false;
  bool json = false;
};

struct Embedding {
  std::vector<Picture> pictures;  // in input order
  size_t unreadable = 0;
  std::vector<float> vectors;  // [N, C], complete only when nothing is unreadable
};

// Every picture is read, so that all the bad ones are named; the model stops at the first of them.
Embedding embed_pictures(const std::vector<Picture>& pictures, const Runner& runner, int side) {
  Embedding embedding;
  const Preprocessing preprocessing = preprocessing_of(runner.card(), side);
  const Grid size{preprocessing.size, preprocessing.size};
  ProgressLine progress;
  each_batch(pictures, preprocessing, [&](const PictureBatch& batch) {
    progress.show(fmt::format("{}/{} pictures", embedding.pictures.size(), pictures.size()),
                  share_of(embedding.pictures.size(), pictures.size()));
    for (const Picture& entry : batch.entries) {
      embedding.pictures.push_back(entry);
      if (entry.error.empty()) continue;
      ++embedding.unreadable;
      progress.clear();
      log_line(entry.error);
    }
    if (embedding.unreadable > 0) return;
    const auto vectors = runner.vectors({batch.pixels.data(), batch.count, size});
    embedding.vectors.insert(embedding.vectors.end(), vectors.begin(), vectors.end());
  });
  return embedding;
}

Json json_of(const Embedding& embedding) {
  Json rows = Json::array();
  for (const auto& [file, error] : embedding.pictures) {
    Json row{{"file", file}};
    if (!error.empty()) row["error"] = error;
    if (embedding.unreadable == 0) row["row"] = rows.size();
    rows.push_back(row);
  }
  return rows;
}

void run(const EmbedOptions& options) {
  check_output(options.out);
  const std::vector<Picture> pictures = find_pictures(options.inputs, options.strict);
  const Runner runner = open_runner(options.model, options.engine);
  check_own_size(runner.card(), options.size);
  Embedding embedding = embed_pictures(pictures, runner, options.size);
  if (options.json) print_json(json_of(embedding));
  if (embedding.unreadable > 0) {
    fail("{} of {} pictures could not be read; '{}' was not written", embedding.unreadable,
         pictures.size(), options.out);
  }
  const auto count = static_cast<int64_t>(pictures.size());
  const auto width = static_cast<int64_t>(embedding.vectors.size()) / count;
  const Array array{{count, width}, std::move(embedding.vectors)};
  write_npy(options.out, array);
  log("wrote '{}' {}", options.out, shape_text(array.shape));
}

}  // namespace

void add_embed(CLI::App& app) {
  auto options = std::make_shared<EmbedOptions>();
  CLI::App* command =
      add_command(app, {"embed", "Run", "Turn pictures into the vectors that the classifier reads",
                        "soft embed --weights model.safetensors --out vectors.npy photo.png\n"
                        "soft embed --weights model.safetensors --out vectors.npy --json folder/"});
  command->add_option("images", options->inputs, "Pictures, folders, or - for standard input")
      ->required()
      ->type_name("IMAGE...");
  command
      ->add_option("--out", options->out,
                   "Float32 N x C (.npy), one row per picture in the order given; not written when "
                   "any picture cannot be read")
      ->required()
      ->type_name("FILE");
  add_strict_flag(command, options->strict);
  add_own_size_flag(command, options->size);
  add_weights_flag(command, options->model);
  add_model_flag(command, options->model);
  add_engine_flag(command, options->engine);
  add_change_flags(command, options->model);
  add_weights_key_flag(command, options->model);
  command->add_flag("--json", options->json, "Print JSON: which picture is in which row");
  command->callback([options] { run(*options); });
}

}  // namespace soft
