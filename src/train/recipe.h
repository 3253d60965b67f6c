// How a model is trained: every number of it in one plain struct, stored beside the weights and
// read back to run the same training again. What each field means stands in the table of
// recipe.cpp.
//   released  what the published training script does       paper  what the paper states
//   small     for small sets and few epochs: light mixing, per-step schedule, EMA with warm-up
//   finetune  from trained weights to another small set: the nearer to the pixels, the slower
// Without a name, train/choose.h fits one to the data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "data/augment.h"
#include "spec/model_spec.h"

namespace soft {

enum class Wire { kFloat, kHalf };  // how gradients travel between ranks

struct Recipe {
  std::string preset = "released";
  int epochs = 300;
  int64_t batch = 1024;
  int accumulate = 1;
  uint64_t seed = 42;
  int64_t shuffle = 8192;  // pictures in the shuffle buffers of shards

  double lr = 0;  // 0: lr_base · batch · accumulate / 1024
  double lr_base = 1e-3;
  double min_lr = 5e-5;
  double warmup_lr = 1e-6;
  double warmup_epochs = 10;
  bool per_step = false;
  double layer_decay = 1;

  double weight_decay = 0.05;
  bool decay_all = false;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  double clip = 1.0;

  double drop_path = 0.1;
  bool stochastic_depth = false;

  bool ema = true;
  double ema_decay = 0.99996;
  bool ema_warmup = false;  // min(decay, 1 - (1 + t)^(-2/3))

  bool recompute = false;
  bool sync_bn = false;
  Wire wire = Wire::kFloat;
  int64_t bucket_mb = 25;

  double eval_crop = 0.9;
  Augmentation augmentation;
};

std::vector<std::string_view> preset_names();

// A preset, with the learning rate the published script uses for this model.
Recipe preset_recipe(std::string_view name, const ModelSpec& spec);

// Optimizer steps on so many pictures: an epoch drops its incomplete last batch.
int64_t steps_of(const Recipe& recipe, int64_t pictures);

// The keys of --set that belong to the recipe; the others belong to the model's spec.
std::vector<std::string_view> recipe_field_names();
std::vector<FieldHelp> recipe_field_help();
bool is_recipe_field(std::string_view key);
void set_recipe_field(Recipe& recipe, std::string_view key, std::string_view value);

Json to_json(const Recipe& recipe);
Recipe recipe_from_json(const Json& json, const std::string& what);

// Throws a usage error for values that cannot work.
void validate(const Recipe& recipe);

}  // namespace soft
