#include "train/recipe.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <type_traits>

#include "base/error.h"
#include "base/nearest.h"
#include "base/setting.h"

namespace soft {
namespace {

// The published learning rate for a global batch of 1024.
double published_lr(const std::string& model) {
  if (model == "soft-medium") return 3.5e-4;
  if (model == "soft-medium-norm") return 4e-4;
  if (model.rfind("soft-large", 0) == 0) return 3.3e-4;
  if (model.rfind("soft-huge", 0) == 0) return 2.7e-4;
  return 1e-3;
}

Recipe paper_recipe(Recipe recipe) {
  recipe.decay_all = true;
  recipe.clip = 0;
  recipe.drop_path = 0;
  recipe.ema = false;
  recipe.eval_crop = 0.875;  // 256 -> 224
  recipe.augmentation.operations = 0;
  recipe.augmentation.erasing = 0;
  return recipe;
}

Recipe small_recipe(Recipe recipe) {
  recipe.epochs = 30;
  recipe.batch = 64;
  recipe.lr_base = 2.4e-2;  // 1.5e-3 at a batch of 64
  recipe.min_lr = 1e-5;
  recipe.warmup_epochs = 1;
  recipe.per_step = true;
  recipe.drop_path = 0;
  recipe.ema_decay = 0.998;
  recipe.ema_warmup = true;
  recipe.augmentation.crop = Crop::kPad;
  recipe.augmentation.operations = 0;
  recipe.augmentation.erasing = 0;
  recipe.augmentation.mixup = 0.2;
  recipe.augmentation.mix_probability = 0.3;
  return recipe;
}

// Each also refuses what is no number.
void check_positive(const char* key, double value) {
  if (!(value > 0 && std::isfinite(value))) fail_usage("{}={} must be positive", key, value);
}

void check_not_negative(const char* key, double value) {
  if (!(value >= 0 && std::isfinite(value))) fail_usage("{}={} must not be negative", key, value);
}

void check_below_one(const char* key, double value) {
  if (!(value >= 0 && value < 1)) fail_usage("{}={} must lie in [0, 1)", key, value);
}

const std::vector<std::string_view>& crop_names() {
  static const std::vector<std::string_view> names{"none", "resized", "pad"};
  return names;
}

struct Field {
  std::string_view key;
  std::function<void(Recipe&, std::string_view)> set;
  std::function<std::string(const Recipe&)> get;
};

// `member` picks the field out of a recipe; its type decides how it is written.
template <class Member>
Field field(std::string_view key, Member member) {
  using T = std::remove_reference_t<decltype(member(std::declval<Recipe&>()))>;
  return {key,
          [=](Recipe& recipe, std::string_view text) {
            T& value = member(recipe);
            if constexpr (std::is_same_v<T, bool>) {
              value = parse_switch(key, text);
            } else if constexpr (std::is_integral_v<T>) {
              value = parse_whole<T>(key, text);
            } else if constexpr (std::is_same_v<T, Crop>) {
              value = static_cast<Crop>(parse_name(key, text, crop_names()));
            } else {
              value = parse_real(key, text);
            }
          },
          [=](const Recipe& recipe) -> std::string {
            const T& value = member(const_cast<Recipe&>(recipe));
            if constexpr (std::is_same_v<T, bool>) {
              return value ? "on" : "off";
            } else if constexpr (std::is_same_v<T, Crop>) {
              return std::string(crop_names()[static_cast<size_t>(value)]);
            } else {
              return fmt::format("{}", value);
            }
          }};
}

#define SOFT_FIELD(name) \
  field(                 \
      #name, [](Recipe & r) -> auto& { return r.name; })
#define SOFT_AUGMENT(name) \
  field(                   \
      #name, [](Recipe & r) -> auto& { return r.augmentation.name; })

const std::vector<Field>& fields() {
  static const std::vector<Field> table{SOFT_FIELD(epochs),
                                        SOFT_FIELD(batch),
                                        SOFT_FIELD(accumulate),
                                        SOFT_FIELD(seed),
                                        SOFT_FIELD(lr),
                                        SOFT_FIELD(lr_base),
                                        SOFT_FIELD(min_lr),
                                        SOFT_FIELD(warmup_lr),
                                        SOFT_FIELD(warmup_epochs),
                                        SOFT_FIELD(per_step),
                                        SOFT_FIELD(weight_decay),
                                        SOFT_FIELD(decay_all),
                                        SOFT_FIELD(beta1),
                                        SOFT_FIELD(beta2),
                                        SOFT_FIELD(eps),
                                        SOFT_FIELD(clip),
                                        SOFT_FIELD(drop_path),
                                        SOFT_FIELD(stochastic_depth),
                                        SOFT_FIELD(ema),
                                        SOFT_FIELD(ema_decay),
                                        SOFT_FIELD(ema_warmup),
                                        SOFT_FIELD(eval_crop),
                                        SOFT_AUGMENT(crop),
                                        SOFT_AUGMENT(min_scale),
                                        SOFT_AUGMENT(max_scale),
                                        SOFT_AUGMENT(min_ratio),
                                        SOFT_AUGMENT(max_ratio),
                                        SOFT_AUGMENT(pad),
                                        SOFT_AUGMENT(flip),
                                        SOFT_AUGMENT(operations),
                                        SOFT_AUGMENT(operation_probability),
                                        SOFT_AUGMENT(level),
                                        SOFT_AUGMENT(level_spread),
                                        SOFT_AUGMENT(mixup),
                                        SOFT_AUGMENT(cutmix),
                                        SOFT_AUGMENT(cutmix_chance),
                                        SOFT_AUGMENT(mix_probability),
                                        SOFT_AUGMENT(erasing),
                                        SOFT_AUGMENT(min_erased),
                                        SOFT_AUGMENT(max_erased),
                                        SOFT_AUGMENT(erased_aspect),
                                        SOFT_AUGMENT(smoothing)};
  return table;
}

#undef SOFT_FIELD
#undef SOFT_AUGMENT

}  // namespace

std::vector<std::string_view> preset_names() { return {"released", "paper", "small"}; }

Recipe preset_recipe(std::string_view name, const ModelSpec& spec) {
  Recipe recipe;
  recipe.lr_base = published_lr(spec.name);
  const size_t which = parse_name("recipe", name, preset_names());
  if (which == 1) recipe = paper_recipe(recipe);
  if (which == 2) recipe = small_recipe(recipe);
  recipe.preset = name;
  return recipe;
}

std::vector<std::string_view> recipe_field_names() {
  std::vector<std::string_view> names;
  for (const Field& entry : fields()) names.push_back(entry.key);
  return names;
}

bool is_recipe_field(std::string_view key) {
  const auto names = recipe_field_names();
  return std::find(names.begin(), names.end(), key) != names.end();
}

void set_recipe_field(Recipe& recipe, std::string_view key, std::string_view value) {
  for (const Field& entry : fields()) {
    if (entry.key == key) return entry.set(recipe, value);
  }
  fail_usage("unknown recipe setting '{}'{}", key, hint(key, recipe_field_names()));
}

Json to_json(const Recipe& recipe) {
  Json json{{"preset", recipe.preset}};
  for (const Field& entry : fields()) json[std::string(entry.key)] = entry.get(recipe);
  return json;
}

Recipe recipe_from_json(const Json& json, const std::string& what) {
  if (!json.is_object()) fail("{}: a recipe is a JSON object", what);
  Recipe recipe;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) fail("{}: recipe field '{}' must be text", what, key);
    if (key == "preset") {
      recipe.preset = value.get<std::string>();
      continue;
    }
    try {
      set_recipe_field(recipe, key, value.get<std::string>());
    } catch (const Error& error) {
      fail("{}: {}", what, error.what());
    }
  }
  return recipe;
}

void validate(const Recipe& recipe) {
  if (recipe.epochs < 1) fail_usage("epochs={} must be at least 1", recipe.epochs);
  if (recipe.batch < 1) fail_usage("batch={} must be at least 1", recipe.batch);
  if (recipe.accumulate < 1) fail_usage("accumulate={} must be at least 1", recipe.accumulate);
  check_positive("lr_base", recipe.lr_base);
  check_positive("eps", recipe.eps);
  check_not_negative("lr", recipe.lr);
  check_not_negative("min_lr", recipe.min_lr);
  check_not_negative("warmup_lr", recipe.warmup_lr);
  check_not_negative("warmup_epochs", recipe.warmup_epochs);
  check_not_negative("weight_decay", recipe.weight_decay);
  check_not_negative("clip", recipe.clip);
  check_below_one("beta1", recipe.beta1);
  check_below_one("beta2", recipe.beta2);
  check_below_one("drop_path", recipe.drop_path);
  check_below_one("ema_decay", recipe.ema_decay);
  if (!(recipe.eval_crop > 0 && recipe.eval_crop <= 1)) {
    fail_usage("eval_crop={} must lie in (0, 1]", recipe.eval_crop);
  }
  validate(recipe.augmentation);
}

}  // namespace soft
