#include "train/recipe.h"

#include <algorithm>
#include <functional>
#include <type_traits>

#include "base/error.h"
#include "base/nearest.h"
#include "base/printable.h"
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

// Few pictures, and weights that already see: they should move little, the less the nearer they are
// to the pixels, while the new head learns at the full rate.
Recipe finetune_recipe(Recipe recipe) {
  recipe = small_recipe(recipe);
  recipe.epochs = 10;
  recipe.batch = 32;
  recipe.lr_base = 3.2e-2;  // 1e-3 at a batch of 32
  recipe.warmup_epochs = 0.5;
  recipe.layer_decay = 0.8;
  recipe.ema_decay = 0.99;
  recipe.augmentation.mix_probability = 0;
  return recipe;
}

const std::vector<std::string_view>& crop_names() {
  static const std::vector<std::string_view> names{"none", "resized", "pad"};
  return names;
}

const std::vector<std::string_view>& wire_names() {
  static const std::vector<std::string_view> names{"fp32", "fp16"};
  return names;
}

struct Field {
  std::string_view key;
  std::string_view meaning;  // one line, for people
  std::string values;        // what may be written, likewise
  std::function<void(Recipe&, std::string_view)> set;
  std::function<std::string(const Recipe&)> get;
};

template <class T>
std::string values_of() {
  if constexpr (std::is_same_v<T, bool>) return "on, off";
  if constexpr (std::is_same_v<T, Crop>) return "none, resized, pad";
  if constexpr (std::is_same_v<T, Wire>) return "fp32, fp16";
  return std::is_integral_v<T> ? "N" : "X";
}

// `member` picks the field out of a recipe; its type decides how it is written.
template <class Member>
Field field(std::string_view key, std::string_view meaning, Member member) {
  using T = std::remove_reference_t<decltype(member(std::declval<Recipe&>()))>;
  return {key, meaning, values_of<T>(),
          [=](Recipe& recipe, std::string_view text) {
            T& value = member(recipe);
            if constexpr (std::is_same_v<T, bool>) {
              value = parse_switch(key, text);
            } else if constexpr (std::is_integral_v<T>) {
              value = parse_whole<T>(key, text);
            } else if constexpr (std::is_same_v<T, Crop>) {
              value = static_cast<Crop>(parse_name(key, text, crop_names()));
            } else if constexpr (std::is_same_v<T, Wire>) {
              value = static_cast<Wire>(parse_name(key, text, wire_names()));
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
            } else if constexpr (std::is_same_v<T, Wire>) {
              return std::string(wire_names()[static_cast<size_t>(value)]);
            } else {
              return fmt::format("{}", value);
            }
          }};
}

#define SOFT_FIELD(name, meaning) \
  field(                          \
      #name, meaning, [](Recipe & r) -> auto& { return r.name; })
#define SOFT_AUGMENT(name, meaning) \
  field(                            \
      #name, meaning, [](Recipe & r) -> auto& { return r.augmentation.name; })

const std::vector<Field>& fields() {
  static const std::vector<Field> table{
      SOFT_FIELD(epochs, "passes over the training pictures"),
      SOFT_FIELD(batch, "pictures computed together, on each rank"),
      SOFT_FIELD(accumulate, "batches whose gradients make one step"),
      SOFT_FIELD(seed, "of everything random"),
      SOFT_FIELD(shuffle, "tar: pictures among which the next are drawn"),
      SOFT_FIELD(lr, "peak rate; 0: lr_base * batch of all ranks * accumulate / 1024"),
      SOFT_FIELD(lr_base, "peak learning rate of a batch of 1024"),
      SOFT_FIELD(min_lr, "where the cosine ends; not scaled with the batch"),
      SOFT_FIELD(warmup_lr, "where the warm-up begins; not scaled with the batch"),
      SOFT_FIELD(warmup_epochs, "epochs in which the rate grows to its peak"),
      SOFT_FIELD(per_step, "on: the rate changes every step; off: every epoch"),
      SOFT_FIELD(layer_decay, "each layer below the head learns this much slower"),
      SOFT_FIELD(weight_decay, "decoupled, times the learning rate"),
      SOFT_FIELD(decay_all, "off: none on 1-D tensors, biases, the class token"),
      SOFT_FIELD(beta1, "AdamW: memory of the mean gradient"),
      SOFT_FIELD(beta2, "AdamW: memory of the squared gradient"),
      SOFT_FIELD(eps, "AdamW: added to the root of the squares"),
      SOFT_FIELD(clip, "largest L2 norm of all gradients; 0: off"),
      SOFT_FIELD(drop_path, "chance to skip the last layer; 0 at the first"),
      SOFT_FIELD(stochastic_depth, "drop whole samples in SOFT layers, too"),
      SOFT_FIELD(ema, "evaluate and save an average of the weights"),
      SOFT_FIELD(ema_decay, "what the average keeps at each step"),
      SOFT_FIELD(ema_warmup, "a quicker average at first; short runs need it"),
      SOFT_FIELD(recompute, "compute layers again on the way back: less memory"),
      SOFT_FIELD(sync_bn, "batch norm over the batches of all ranks"),
      SOFT_FIELD(wire, "how gradients travel between ranks: fp32, or fp16"),
      SOFT_FIELD(bucket_mb, "MB of gradients that travel together"),
      SOFT_FIELD(eval_crop, "evaluation: side of the crop over the short side"),
      SOFT_AUGMENT(crop, "none, resized (a random window) or pad (a shift)"),
      SOFT_AUGMENT(min_scale, "crop=resized: smallest area of the window"),
      SOFT_AUGMENT(max_scale, "crop=resized: largest area of the window"),
      SOFT_AUGMENT(min_ratio, "crop=resized: narrowest window, width to height"),
      SOFT_AUGMENT(max_ratio, "crop=resized: widest window, width to height"),
      SOFT_AUGMENT(pad, "crop=pad: shift by up to so many pixels"),
      SOFT_AUGMENT(flip, "chance of mirroring, where the set allows it"),
      SOFT_AUGMENT(operations, "RandAugment: operations a picture; 0: off"),
      SOFT_AUGMENT(operation_probability, "RandAugment: chance of each operation"),
      SOFT_AUGMENT(level, "RandAugment: mean strength, 0 to 10"),
      SOFT_AUGMENT(level_spread, "RandAugment: spread of the strength"),
      SOFT_AUGMENT(mixup, "Beta(x, x) of blending two pictures; 0: never"),
      SOFT_AUGMENT(cutmix, "Beta(x, x) of pasting a part of another; 0: never"),
      SOFT_AUGMENT(cutmix_chance, "of cutmix, where mixup is on as well"),
      SOFT_AUGMENT(mix_probability, "chance that a batch is mixed at all"),
      SOFT_AUGMENT(erasing, "chance of noise in a window of the picture"),
      SOFT_AUGMENT(min_erased, "erasing: smallest area of the window"),
      SOFT_AUGMENT(max_erased, "erasing: largest area of the window"),
      SOFT_AUGMENT(erased_aspect, "erasing: height to width from this to its inverse"),
      SOFT_AUGMENT(smoothing, "part of the target spread over all classes"),
  };
  return table;
}

#undef SOFT_FIELD
#undef SOFT_AUGMENT

}  // namespace

std::vector<std::string_view> preset_names() { return {"released", "paper", "small", "finetune"}; }

Recipe preset_recipe(std::string_view name, const ModelSpec& spec) {
  Recipe recipe;
  recipe.lr_base = published_lr(spec.name);
  const size_t which = parse_name("recipe", name, preset_names());
  if (which == 1) recipe = paper_recipe(recipe);
  if (which == 2) recipe = small_recipe(recipe);
  if (which == 3) recipe = finetune_recipe(recipe);
  recipe.preset = name;
  return recipe;
}

int64_t steps_of(const Recipe& recipe, int64_t pictures) {
  return recipe.epochs * (pictures / recipe.batch / recipe.accumulate);
}

std::vector<FieldHelp> recipe_field_help() {
  std::vector<FieldHelp> help;
  for (const Field& entry : fields()) help.push_back({entry.key, entry.values, entry.meaning});
  return help;
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
  fail_usage("unknown recipe setting '{}'{}; `soft train --list-settings` lists all of them", key,
             hint(key, recipe_field_names()));
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
      fail("{}: {}", what, shown(error.what()));
    }
  }
  return recipe;
}

}  // namespace soft
