#include "cli/runner.h"

#include <memory>

#include "base/error.h"
#include "base/log.h"
#include "base/parallel.h"
#include "cli/boxed.h"
#include "engine/engine.h"
#include "wing/wing.h"

namespace soft {
namespace {

const std::vector<std::string_view> kEngines{"native", "torch", "torch-plain"};

struct Native {
  explicit Native(const LoadedModel& loaded) : model(loaded.weights, loaded.card.spec) {}

  Packed model;
  Workspace workspace;
};

Runner open_native(const LoadedModel& model) {
  auto native = std::make_shared<Native>(model);
  const ModelSpec& spec = model.card.spec;
  Runner runner;
  runner.card = model.card;
  runner.logits = [native, classes = spec.classes](const float* pixels, int64_t count, Grid size) {
    std::vector<float> logits(count * classes);
    forward(native->model, native->workspace, {pixels, count, size}, logits.data());
    return logits;
  };
  runner.vectors = [native, dim = spec.stages.back().dim](const float* pixels, int64_t count,
                                                          Grid size) {
    std::vector<float> vectors(count * dim);
    embed(native->model, native->workspace, {pixels, count, size}, vectors.data());
    return vectors;
  };
  runner.features = [native](const float* pixels, int64_t count, Grid size) {
    return features(native->model, native->workspace, {pixels, count, size});
  };
  runner.rows = [native](const ImageBatch& images, const RowQuery& query) {
    return attention_row(native->model, native->workspace, images, query);
  };
  return runner;
}

// The model with the identity as its classifier: its logits are what the classifier would read.
TorchModel headless(TorchModel model) {
  const int64_t dim = model.spec.stages.back().dim;
  model.spec.classes = static_cast<int>(dim);
  auto head = std::make_shared<std::vector<float>>((dim + 1) * dim);  // weight, then bias
  for (int64_t i = 0; i < dim; ++i) (*head)[i * dim + i] = 1;
  const auto bytes = [&](int64_t first) {
    return reinterpret_cast<const uint8_t*>(head->data() + first);
  };
  model.weights.tensors["head.weight"] = {DType::kF32, {dim, dim}, bytes(0)};
  model.weights.tensors["head.bias"] = {DType::kF32, {dim}, bytes(dim * dim)};
  using Kept = std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>;
  model.weights.storage = std::make_shared<Kept>(model.weights.storage, head);
  return model;
}

Runner open_torch(const LoadedModel& model, bool fused) {
  const TorchModel request{model.weights, model.card.spec, threads(), fused};
  TorchAnswers answers = torch_wing().open(request);
  Runner runner;
  runner.card = model.card;
  runner.logits = std::move(answers.logits);
  runner.features = std::move(answers.features);
  runner.rows = [row = std::move(answers.row)](const ImageBatch& images, const RowQuery& query) {
    return row(images.pixels, images.count, images.size,
               {query.stage, query.layer, query.token, query.layers});
  };
  // A second model, which few commands need: opened when it is first asked.
  auto second = std::make_shared<TorchAnswers>();
  runner.vectors = [request, second](const float* pixels, int64_t count, Grid size) {
    if (!second->logits) *second = torch_wing().open(headless(request));
    return second->logits(pixels, count, size);
  };
  return runner;
}

}  // namespace

std::string_view name_of(Engine engine) { return kEngines[static_cast<size_t>(engine)]; }

void add_engine_flag(CLI::App* command, std::string& engine) {
  const auto take = [&engine](const std::string& name) {
    parse_name("engine", name, kEngines);
    engine = name;
  };
  command
      ->add_option_function<std::string>(
          "--engine", take,
          "native, torch or torch-plain (default: native, or torch for what only LibTorch runs)")
      ->type_name("NAME");
}

Engine choose_engine(const std::string& asked, const ModelSpec& spec) {
  const std::string obstacle = native_obstacle(spec);
  if (asked.empty()) {
    if (!obstacle.empty()) log("{}; taking --engine torch", obstacle);
    return obstacle.empty() ? Engine::kNative : Engine::kTorch;
  }
  const auto engine = static_cast<Engine>(parse_name("engine", asked, kEngines));
  if (engine == Engine::kNative && !obstacle.empty()) fail("{}; use --engine torch", obstacle);
  return engine;
}

LoadedModel load_model(const ModelOptions& options, uint64_t seed) {
  ChosenModel chosen = choose_model(options);
  LoadedModel model;
  model.card = std::move(chosen.card);
  model.card.spec = with_changes(model.card.spec, options);
  model.weights =
      chosen.weights ? std::move(*chosen.weights) : random_weights(model.card.spec, seed);
  check_fit(model.weights, model.card.spec);
  return model;
}

Runner open_runner(const LoadedModel& model, Engine engine) {
  if (engine == Engine::kNative) return open_native(model);
  return open_torch(model, engine == Engine::kTorch);
}

Runner open_runner(ModelOptions options, const std::string& engine) {
  if (options.weights.empty()) options.weights = boxed_weights();
  const LoadedModel model = load_model(options);
  return open_runner(model, choose_engine(engine, model.card.spec));
}

}  // namespace soft
