#include "facade/runner.h"

#include "base/error.h"
#include "base/log.h"
#include "base/parallel.h"
#include "describe/cost.h"
#include "facade/boxed.h"
#include "facade/one_at_a_time.h"
#include "facade/workspaces.h"
#include "weights/int8.h"
#include "wing/wing.h"

namespace soft {
namespace {

// The model's network is shared, the workspaces are these answers' own.
Answers native_answers(const std::shared_ptr<const Packed>& model,
                       const WorkspaceOptions& options) {
  const auto workspaces = std::make_shared<Workspaces>(options);
  const ModelSpec& spec = model->spec();
  Answers answers;
  answers.logits = [=, classes = spec.classes](const ImageBatch& images) {
    std::vector<float> logits(images.count * classes);
    workspaces->with_one(
        [&](Workspace& workspace) { forward(*model, workspace, images, logits.data()); });
    return logits;
  };
  answers.vectors = [=, dim = model->embedding()](const ImageBatch& images) {
    std::vector<float> vectors(images.count * dim);
    workspaces->with_one(
        [&](Workspace& workspace) { embed(*model, workspace, images, vectors.data()); });
    return vectors;
  };
  answers.features = [=](const ImageBatch& images) {
    return workspaces->with_one(
        [&](Workspace& workspace) { return features(*model, workspace, images); });
  };
  answers.rows = [=](const ImageBatch& images, const RowQuery& query) {
    return workspaces->with_one(
        [&](Workspace& workspace) { return attention_row(*model, workspace, images, query); });
  };
  answers.shares = [=](const ImageBatch& images) {
    return workspaces->with_one(
        [&](Workspace& workspace) { return head_shares(*model, workspace, images); });
  };
  return answers;
}

Answers torch_answers(const LoadedModel& model, bool fused) {
  const bool int8 = has_int8(model.weights);
  if (int8) log_once("LibTorch runs int8 weights as the floats they stand for");
  const Weights weights = int8 ? dequantized(model.weights) : model.weights;
  Answers answers = torch_wing().open({weights, model.card.spec, threads(), fused});
  const auto mutex = std::make_shared<std::mutex>();
  answers.logits = one_at_a_time(mutex, std::move(answers.logits));
  answers.vectors = one_at_a_time(mutex, std::move(answers.vectors));
  answers.features = one_at_a_time(mutex, std::move(answers.features));
  answers.rows = one_at_a_time(mutex, std::move(answers.rows));
  answers.shares = one_at_a_time(mutex, std::move(answers.shares));
  return answers;
}

}  // namespace

const std::vector<std::string_view>& engine_names() {
  static const std::vector<std::string_view> names{"native", "torch", "torch-plain"};
  return names;
}

std::string_view name_of(Engine engine) { return engine_names()[static_cast<size_t>(engine)]; }

Engine choose_engine(const std::string& asked, const ModelSpec& spec) {
  const std::string obstacle = native_obstacle(spec);
  if (asked.empty()) {
    if (!obstacle.empty()) log("{}; taking --engine torch", obstacle);
    return obstacle.empty() ? Engine::kNative : Engine::kTorch;
  }
  const auto engine = static_cast<Engine>(parse_name("engine", asked, engine_names()));
  if (engine == Engine::kNative && !obstacle.empty()) fail("{}; use --engine torch", obstacle);
  return engine;
}

Runner::Runner(const LoadedModel& model, Engine engine, const WorkspaceOptions& workspaces)
    : card_(std::make_shared<const Card>(model.card)), engine_(engine), workspaces_(workspaces) {
  if (engine == Engine::kNative) {
    packed_ = std::make_shared<const Packed>(model.weights, model.card.spec);
    answers_ = std::make_shared<const Answers>(native_answers(packed_, workspaces));
  } else {
    answers_ = std::make_shared<const Answers>(torch_answers(model, engine == Engine::kTorch));
  }
}

Runner Runner::apart() const {
  Runner other = *this;
  if (packed_)
    other.answers_ = std::make_shared<const Answers>(native_answers(packed_, workspaces_));
  return other;
}

size_t Runner::weight_bytes() const {
  if (packed_) return packed_->bytes();
  return static_cast<size_t>(cost_of(spec(), {spec().image_size, spec().image_size}).weight_bytes);
}

std::string class_name(const Card& card, int64_t index) {
  const auto& names = card.class_names;
  return index < static_cast<int64_t>(names.size()) ? names[index] : fmt::format("class {}", index);
}

Runner open_runner(ModelOptions options, const std::string& engine,
                   const WorkspaceOptions& workspaces) {
  if (!options.weights.empty() && !options.box.empty()) {
    fail_usage("'{}' and the box '{}' are two models; give --weights or --box", options.weights,
               options.box);
  }
  if (options.weights.empty()) options.weights = boxed_weights(options.box);
  const LoadedModel model = load_model(options);
  return Runner(model, choose_engine(engine, model.card.spec), workspaces);
}

}  // namespace soft
