#include "train/plan.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/setting.h"
#include "describe/cost.h"
#include "spec/all_models.h"
#include "train/choose.h"
#include "train/plan_keys.h"
#include "train/run_folder.h"
#include "train/schedule.h"

namespace soft {
namespace {

namespace fs = std::filesystem;

void choose_model(RunFile& run, const TrainRequest& request) {
  if (!request.model.empty()) run.spec = find_model(request.model);
  if (!request.attention.empty()) set_field(run.spec, "attention", request.attention);
}

void apply_to_model(ModelSpec& spec, const TrainRequest& request) {
  for (const std::string& text : request.settings) {
    const Setting setting = parse_setting(text);
    if (!is_recipe_field(setting.key)) set_field(spec, setting.key, setting.value);
  }
}

void apply_to_recipe(Recipe& recipe, const TrainRequest& request) {
  for (const std::string& text : request.settings) {
    const Setting setting = parse_setting(text);
    if (is_recipe_field(setting.key)) set_recipe_field(recipe, setting.key, setting.value);
  }
  recipe.epochs = request.epochs.value_or(recipe.epochs);
  recipe.batch = request.batch.value_or(recipe.batch);
  if (request.lr && !(*request.lr > 0)) fail_usage("--lr {} must be positive", *request.lr);
  recipe.lr = request.lr.value_or(recipe.lr);
  recipe.seed = request.seed.value_or(recipe.seed);
}

// Everything but the recipe.
void apply_to_run(RunFile& run, const TrainRequest& request) {
  choose_model(run, request);
  apply_to_model(run.spec, request);
  if (!request.data.empty()) run.data = request.data;
  run.limit_train = request.limit_train.value_or(run.limit_train);
  run.limit_val = request.limit_val.value_or(run.limit_val);
  run.val_fraction = request.val_fraction.value_or(run.val_fraction);
  run.strict = request.strict.value_or(run.strict);
  run.init = request.init.value_or(run.init);
  run.freeze = request.freeze.value_or(run.freeze);
}

// The same batch of all ranks together, where it can be divided among another number of them; then
// even the middle of an epoch goes on as it was.
void divide_anew(RunFile& run, int world) {
  const int64_t pictures = run.recipe.batch * run.world;
  if (run.world != world && pictures % world == 0) run.recipe.batch = pictures / world;
  run.world = world;
}

RunFile stored_run(const TrainRequest& request, const std::string& path) {
  if (!request.stored_recipe.empty()) return parse_run_file(request.stored_recipe, path);
  std::error_code unknown;
  if (!fs::exists(path, unknown)) {
    check_nothing_to_lose(request.out);
    fail("nothing to resume: no '{}'; start a run with `soft train --out {}`", path, request.out);
  }
  return read_run_file(path);
}

RunFile resumed_run(const TrainRequest& request) {
  RunFile stored = stored_run(request, request.out + "/recipe.json");
  divide_anew(stored, request.place.world);
  RunFile run = stored;
  apply_to_run(run, request);
  if (!request.recipe.empty()) {
    run.recipe = is_run_file(request.recipe) ? read_run_file(request.recipe).recipe
                                             : preset_recipe(request.recipe, run.spec);
  }
  apply_to_recipe(run.recipe, request);
  run.spec.classes = stored.spec.classes;
  const std::string changed = differences(run, stored);
  if (!changed.empty() && !request.allow_change) {
    fail_usage(
        "--resume with a changed recipe ({}); leave these options out, or add --allow-change",
        changed);
  }
  return run;
}

RunFile new_run(const TrainRequest& request) {
  const bool writes = request.place.first() && !request.dry_run && !request.restart;
  if (writes && !request.out.empty()) check_unused(request.out);
  RunFile run;
  run.recipe.preset.clear();  // to be chosen
  if (is_run_file(request.recipe)) {
    run = read_run_file(request.recipe);
    run.mark = {};  // of the data it was stored with
    divide_anew(run, request.place.world);
  } else if (request.model.empty()) {
    fail_usage(
        "--model is missing; `soft models` lists them, and soft-nano-rows is one for a start");
  }
  apply_to_run(run, request);
  if (run.data.empty()) fail_usage("--data is missing; e.g. --data fashion-mnist, cifar10, shapes");
  if (run.recipe.preset.empty() && !request.recipe.empty()) {
    run.recipe = preset_recipe(request.recipe, run.spec);
    divide_anew(run, request.place.world);
  }
  run.world = request.place.world;
  return run;
}

// What a request asks for by a flag, or else by --set.
template <class T>
std::optional<T> asked(const TrainRequest& request, std::string_view key, std::optional<T> flag) {
  std::optional<T> value;
  for (const std::string& text : request.settings) {
    const Setting setting = parse_setting(text);
    if (setting.key == key) value = parse_whole<T>(key, setting.value);
  }
  return flag ? flag : value;
}

void choose(Plan& plan, const TrainRequest& request) {
  Occasion occasion;
  occasion.pictures = plan.train.size();
  occasion.side = usual_side(plan.train);
  occasion.epochs = asked<int>(request, "epochs", request.epochs);
  occasion.batch = asked<int64_t>(request, "batch", request.batch);
  if (occasion.batch) *occasion.batch *= request.place.world;
  occasion.trained = !plan.run.init.empty();
  Choice choice = choose_recipe(plan.run.spec, occasion);
  plan.run.recipe = std::move(choice.recipe);
  plan.run.world = 1;
  divide_anew(plan.run, request.place.world);
  plan.why = std::move(choice.why);
}

// Beside the run, for data in a place that cannot be written; a dry run leaves nothing behind.
std::string spare_index(const TrainRequest& request) {
  if (request.dry_run || request.out.empty()) return "";
  const fs::path beside = fs::path(request.out).parent_path();
  return beside.empty() ? "." : beside.string();
}

Plan open_data(RunFile run, std::string spare) {
  Plan plan;
  DataRequest request;
  request.spare_index = std::move(spare);
  request.spec = run.data;
  request.size = run.spec.image_size;
  request.seed = run.recipe.seed;
  request.val_fraction = run.val_fraction;
  request.strict = run.strict;
  const auto open = [&](Split split, int64_t limit) {
    request.split = split;
    request.limit = limit;
    return open_dataset(request);
  };
  plan.train = open(Split::kTrain, run.limit_train);
  plan.val = open(Split::kValidation, run.limit_val);
  run.spec.classes = static_cast<int>(plan.train.class_count());
  run.val_fraction = plan.train.held_out;
  plan.run = std::move(run);
  return plan;
}

void check(const Plan& plan) {
  const Recipe& recipe = plan.run.recipe;
  validate(plan.run.spec);
  validate(recipe);
  if (recipe.batch * recipe.accumulate * plan.run.world > plan.train.size()) {
    fail_usage(
        "batch={} times accumulate={}{} is larger than the {} training pictures; no step could "
        "be made",
        recipe.batch, recipe.accumulate,
        plan.run.world > 1 ? fmt::format(" times {} ranks", plan.run.world) : "",
        plan.train.size());
  }
}

void prepare_card(Plan& plan) {
  const int size = plan.run.spec.image_size;
  const double crop = plan.run.recipe.eval_crop;
  plan.preprocessing = preprocessing_of(plan.train, size);
  if (plan.train.native_size == 0) plan.preprocessing.short_side = static_cast<int>(size / crop);
  plan.card.spec = plan.run.spec;
  plan.card.class_names = plan.train.classes;
  plan.card.mean.assign(plan.train.mean.begin(), plan.train.mean.end());
  plan.card.std.assign(plan.train.std.begin(), plan.train.std.end());
  plan.card.crop_fraction = crop;
}

std::string average_text(const Recipe& recipe) {
  if (!recipe.ema) return "off";
  return fmt::format("{:.6g}{}", recipe.ema_decay, recipe.ema_warmup ? " with warm-up" : "");
}

}  // namespace

int64_t steps_of(const Plan& plan) {
  return steps_of(plan.run.recipe, plan.train.size() / plan.run.world);
}

Plan make_plan(const TrainRequest& request) {
  check_setting_keys(request);
  RunFile run = request.resume ? resumed_run(request) : new_run(request);
  // `shapes` and `cue` are drawn from the seed.
  run.recipe.seed = asked<uint64_t>(request, "seed", request.seed).value_or(run.recipe.seed);
  const RunFile stored = run;
  Plan plan = open_data(std::move(run), spare_index(request));
  plan.run.mark = mark_of(plan.train, plan.val);
  if (request.resume) {
    check_same_data(plan.run.data, stored.mark, plan.run.mark,
                    request.allow_change ? "" : "add --allow-change");
  } else {
    if (plan.run.recipe.preset.empty()) choose(plan, request);
    apply_to_recipe(plan.run.recipe, request);
  }
  check(plan);
  if (!request.resume) {
    check_average(plan.run.recipe, steps_of(plan));
  }
  prepare_card(plan);
  return plan;
}

Json describe(const Plan& plan) {
  const RunFile& run = plan.run;
  const Recipe& recipe = run.recipe;
  const Schedule schedule = schedule_of(recipe, run.world);
  const ModelCost cost = cost_of(run.spec, {run.spec.image_size, run.spec.image_size});
  const int64_t pictures = recipe.batch * run.world;
  const int64_t batches = plan.train.size() / pictures;
  // Forward, and twice that for the gradients of inputs and weights.
  const double macs = 3.0 * static_cast<double>(cost.macs_with_inverse) *
                      static_cast<double>(batches * pictures) * recipe.epochs;
  return {{"model", run.spec.name},
          {"params", cost.params},
          {"macs", cost.macs_with_inverse},
          {"data", run.data},
          {"classes", run.spec.classes},
          {"train_images", plan.train.size()},
          {"val_images", plan.val.size()},
          {"val_fraction", run.val_fraction},
          {"image_size", run.spec.image_size},
          {"preset", recipe.preset},
          {"why", plan.why},
          {"epochs", recipe.epochs},
          {"batch", recipe.batch},
          {"ranks", run.world},
          {"steps", steps_of(plan)},
          {"lr", schedule.peak},
          {"min_lr", schedule.floor},
          {"ema", average_text(recipe)},
          {"total_macs", macs},
          {"recipe", to_json(recipe)},
          {"settings", to_json(run.spec)}};
}

std::vector<SettingRow> list_settings(const TrainRequest& request) {
  check_setting_keys(request);
  RunFile run;
  run.spec = find_model(request.model.empty() ? "soft-tiny" : request.model);
  apply_to_run(run, request);
  run.recipe = is_run_file(request.recipe)
                   ? read_run_file(request.recipe).recipe
                   : preset_recipe(request.recipe.empty() ? "small" : request.recipe, run.spec);
  apply_to_recipe(run.recipe, request);
  std::vector<SettingRow> rows;
  const Json model = settings_of(run.spec), recipe = to_json(run.recipe);
  const auto add = [&](const char* owner, const Json& values, const FieldHelp& help) {
    const std::string key(help.key);
    const std::string value = values.contains(key) ? values[key].get<std::string>() : "";
    rows.push_back({owner, key, value, help.values, std::string(help.meaning)});
  };
  for (const FieldHelp& help : field_help(run.spec)) add("model", model, help);
  for (const FieldHelp& help : recipe_field_help()) add("recipe", recipe, help);
  return rows;
}

}  // namespace soft
