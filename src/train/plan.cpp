#include "train/plan.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/nearest.h"
#include "base/setting.h"
#include "spec/cost.h"
#include "train/schedule.h"

namespace soft {
namespace {

namespace fs = std::filesystem;

bool is_file(const std::string& recipe) {
  const std::string ending = ".json";
  return recipe.size() > ending.size() &&
         recipe.compare(recipe.size() - ending.size(), ending.size(), ending) == 0;
}

// Keys of a stored run whose values differ, for the refusal.
std::string differences(const Json& a, const Json& b, const std::string& prefix = "") {
  std::string keys;
  for (const auto& [key, value] : a.items()) {
    if (b.contains(key) && b.at(key) == value) continue;
    if (!keys.empty()) keys += ", ";
    const bool nested = value.is_object() && b.contains(key) && b.at(key).is_object();
    keys += nested ? differences(value, b.at(key), prefix + key + ".") : prefix + key;
  }
  return keys;
}

void choose_model(RunFile& run, const TrainRequest& request) {
  if (!request.model.empty()) run.spec = find_model(request.model);
  if (!request.attention.empty()) set_field(run.spec, "attention", request.attention);
}

// The nearest name may be one of the model's settings or one of the recipe's.
void check_key(std::string_view key) {
  std::vector<std::string_view> known = recipe_field_names();
  const auto fields = field_names();
  known.insert(known.end(), fields.begin(), fields.end());
  if (std::find(known.begin(), known.end(), key) == known.end()) {
    fail_usage("unknown setting '{}'{}", key, hint(key, known));
  }
}

void apply_request(RunFile& run, const TrainRequest& request) {
  if (!request.data.empty()) run.data = request.data;
  for (const std::string& text : request.settings) {
    const Setting setting = parse_setting(text);
    check_key(setting.key);
    if (setting.key == "classes") fail_usage("the data decide on classes; leave --set classes out");
    if (is_recipe_field(setting.key)) {
      set_recipe_field(run.recipe, setting.key, setting.value);
    } else {
      set_field(run.spec, setting.key, setting.value);
    }
  }
  run.recipe.epochs = request.epochs.value_or(run.recipe.epochs);
  run.recipe.batch = request.batch.value_or(run.recipe.batch);
  if (request.lr && !(*request.lr > 0)) fail_usage("--lr {} must be positive", *request.lr);
  run.recipe.lr = request.lr.value_or(run.recipe.lr);
  run.recipe.seed = request.seed.value_or(run.recipe.seed);
  run.limit_train = request.limit_train.value_or(run.limit_train);
  run.limit_val = request.limit_val.value_or(run.limit_val);
  run.init = request.init.value_or(run.init);
  run.freeze = request.freeze.value_or(run.freeze);
}

RunFile resolve_resumed(const TrainRequest& request) {
  const std::string path = request.out + "/recipe.json";
  if (!fs::exists(path)) {
    fail("nothing to resume: no '{}'; start a run with `soft train --out {}`", path, request.out);
  }
  const RunFile stored = read_run_file(path);
  RunFile run = stored;
  choose_model(run, request);
  if (!request.recipe.empty()) {
    run.recipe = is_file(request.recipe) ? read_run_file(request.recipe).recipe
                                         : preset_recipe(request.recipe, run.spec);
  }
  apply_request(run, request);
  run.spec.classes = stored.spec.classes;
  const std::string changed = differences(to_json(run), to_json(stored));
  if (!changed.empty() && !request.allow_change) {
    fail_usage(
        "--resume with a changed recipe ({}); leave these options out, or add --allow-change",
        changed);
  }
  return run;
}

}  // namespace

Json to_json(const RunFile& run) {
  return {{"data", run.data},
          {"limit_train", run.limit_train},
          {"limit_val", run.limit_val},
          {"init", run.init},
          {"freeze", run.freeze},
          {"model", to_json(run.spec)},
          {"recipe", to_json(run.recipe)}};
}

RunFile read_run_file(const std::string& path) {
  const Json json = parse_json(read_text(path), "'" + path + "'");
  RunFile run;
  try {
    run.data = json.at("data").get<std::string>();
    run.limit_train = json.at("limit_train").get<int64_t>();
    run.limit_val = json.at("limit_val").get<int64_t>();
    run.init = json.at("init").get<std::string>();
    run.freeze = json.at("freeze").get<bool>();
    run.spec = spec_from_json(json.at("model"), "'" + path + "'");
    run.recipe = recipe_from_json(json.at("recipe"), "'" + path + "'");
  } catch (const Json::exception& error) {
    fail("'{}' is not a stored recipe: {}", path, error.what());
  }
  return run;
}

// A second run in the same folder would mix its states and weights with those of the first.
void check_unused(const TrainRequest& request) {
  const fs::path out = request.out, states = out / "state";
  const bool used =
      fs::exists(out / "last.safetensors") || (fs::exists(states) && !fs::is_empty(states));
  if (!used || request.out.empty() || request.dry_run) return;
  fail("'{0}' holds a run already; `soft train --resume {0}` continues it, another --out keeps it",
       request.out);
}

RunFile resolve(const TrainRequest& request) {
  if (request.resume) return resolve_resumed(request);
  check_unused(request);
  RunFile run;
  if (is_file(request.recipe)) {
    run = read_run_file(request.recipe);
    choose_model(run, request);
  } else {
    if (request.model.empty()) fail_usage("--model is missing; `soft models` lists them");
    choose_model(run, request);
    run.recipe = preset_recipe(request.recipe.empty() ? "released" : request.recipe, run.spec);
  }
  apply_request(run, request);
  if (run.data.empty()) fail_usage("--data is missing; e.g. --data fashion-mnist, cifar10, shapes");
  return run;
}

Plan make_plan(RunFile run) {
  Plan plan;
  const int size = run.spec.image_size;
  const uint64_t seed = run.recipe.seed;
  plan.train = open_dataset({run.data, Split::kTrain, run.limit_train, size, seed});
  plan.val = open_dataset({run.data, Split::kValidation, run.limit_val, size, seed});
  run.spec.classes = static_cast<int>(plan.train.class_count());
  validate(run.spec);
  validate(run.recipe);
  if (run.recipe.batch * run.recipe.accumulate > plan.train.size()) {
    fail_usage(
        "batch={} times accumulate={} is larger than the {} training pictures; no step could "
        "be made",
        run.recipe.batch, run.recipe.accumulate, plan.train.size());
  }
  plan.preprocessing = preprocessing_of(plan.train, size);
  if (plan.train.native_size == 0) {
    plan.preprocessing.short_side = static_cast<int>(size / run.recipe.eval_crop);
  }
  plan.card.spec = run.spec;
  plan.card.class_names = plan.train.classes;
  plan.card.mean.assign(plan.train.mean.begin(), plan.train.mean.end());
  plan.card.std.assign(plan.train.std.begin(), plan.train.std.end());
  plan.card.crop_fraction = run.recipe.eval_crop;
  plan.run = std::move(run);
  return plan;
}

Json describe(const Plan& plan) {
  const RunFile& run = plan.run;
  const Recipe& recipe = run.recipe;
  const Schedule schedule = schedule_of(recipe);
  const ModelCost cost = cost_of(run.spec, {run.spec.image_size, run.spec.image_size});
  const int64_t batches = plan.train.size() / recipe.batch;
  // Forward, and twice that for the gradients of inputs and weights.
  const double macs = 3.0 * static_cast<double>(cost.macs_with_inverse) *
                      static_cast<double>(batches * recipe.batch) * recipe.epochs;
  return {{"model", run.spec.name},
          {"params", cost.params},
          {"macs", cost.macs_with_inverse},
          {"data", run.data},
          {"classes", run.spec.classes},
          {"train_images", plan.train.size()},
          {"val_images", plan.val.size()},
          {"image_size", run.spec.image_size},
          {"epochs", recipe.epochs},
          {"batch", recipe.batch},
          {"steps", recipe.epochs * (batches / recipe.accumulate)},
          {"lr", schedule.peak},
          {"min_lr", schedule.floor},
          {"ema", recipe.ema ? fmt::format("{}{}", recipe.ema_decay,
                                           recipe.ema_warmup ? " with warm-up" : "")
                             : std::string("off")},
          {"total_macs", macs},
          {"recipe", to_json(recipe)},
          {"settings", to_json(run.spec)}};
}

}  // namespace soft
