// How a model is trained: every number of it in one plain struct, stored beside the weights and
// read back to run the same training again.
//   released  what the published training script does       paper  what the paper states
//   small     for small sets and few epochs: light mixing, per-step schedule, EMA with warm-up
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "data/augment.h"
#include "spec/model_spec.h"

namespace soft {

struct Recipe {
  std::string preset = "released";
  int epochs = 300;
  int64_t batch = 1024;
  int accumulate = 1;  // batches whose gradients make one step
  uint64_t seed = 42;

  double lr = 0;  // 0: lr_base · batch · accumulate / 1024
  double lr_base = 1e-3;
  double min_lr = 5e-5;     // not scaled with the batch
  double warmup_lr = 1e-6;  // not scaled with the batch
  double warmup_epochs = 10;
  bool per_step = false;  // the rate changes at every step instead of every epoch

  double weight_decay = 0.05;
  bool decay_all = false;  // off: no decay on 1-D tensors, biases and the class token
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  double clip = 1.0;  // global L2 norm of the gradients; 0: off

  double drop_path = 0.1;
  bool stochastic_depth = false;  // drop whole samples in SOFT layers, too

  bool ema = true;
  double ema_decay = 0.99996;
  bool ema_warmup = false;  // min(decay, 1 - (1 + t)^(-2/3)): short runs need it

  double eval_crop = 0.9;  // evaluation resizes the short side to floor(size / this)
  Augmentation augmentation;
};

std::vector<std::string_view> preset_names();

// A preset, with the learning rate the published script uses for this model.
Recipe preset_recipe(std::string_view name, const ModelSpec& spec);

// The keys of --set that belong to the recipe; the others belong to the model's spec.
std::vector<std::string_view> recipe_field_names();
bool is_recipe_field(std::string_view key);
void set_recipe_field(Recipe& recipe, std::string_view key, std::string_view value);

Json to_json(const Recipe& recipe);
Recipe recipe_from_json(const Json& json, const std::string& what);

// Throws a usage error for values that cannot work.
void validate(const Recipe& recipe);

}  // namespace soft
