// A model is data: one row of numbers from which the torch model, the engine, the parameter and MAC
// counts, the weights file's metadata and the command line's --set all follow.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/grid.h"
#include "base/json.h"
#include "spec/names.h"
#include "spec/zoo_table.h"

namespace soft {

struct StageSpec {
  int dim = 0;
  int heads = 0;
  int depth = 0;
  int ratio = 1;         // side of the sampling window
  int value_kernel = 0;  // side of the value-path kernel; 0 where there is none

  friend bool operator==(const StageSpec& a, const StageSpec& b) {
    return a.dim == b.dim && a.heads == b.heads && a.depth == b.depth && a.ratio == b.ratio &&
           a.value_kernel == b.value_kernel;
  }
};

struct ModelSpec {
  std::string name;
  std::string family;  // "soft", "soft-norm", "soft-rows", "vit" or one of the zoo

  // Frame
  bool pyramid = true;            // four stages with shrinking grids, or one flat stage
  std::vector<StageSpec> stages;  // 4 when pyramid, 1 when flat
  int image_size = 224;           // side the position embeddings are made for
  int classes = 1000;
  int patch = 16;                            // flat: side of a patch
  std::array<int, 3> stem_strides{2, 1, 2};  // pyramid: strides of the three stem convolutions
  int stem_dim = 32;
  bool overlap = true;                 // pyramid: 3x3 convolutions + BN, or PVT's k = stride + LN
  bool class_token = true;             // stage 4 of a softmax pyramid, or a flat model
  LayerForm layer = LayerForm::kPost;  // flat: which block carries the attention
  int mlp_ratio = 4;

  // Attention of stages 1-3 (pyramid) or of every layer (flat)
  Mechanism attention = Mechanism::kSoft;
  KernelScale kernel_scale = KernelScale::kReleased;
  Normalise normalise = Normalise::kNone;  // kCore is spelt Mechanism::kSoftNorm
  Sampler sampler = Sampler::kConv;
  int landmarks = 0;  // 0: one per ratio x ratio window; otherwise this many at any resolution
  Inverse inverse = Inverse::kNewton;
  InverseGrad inverse_grad = InverseGrad::kOneShot;
  int newton_steps = 20;
  double epsilon = 0.01;  // what `newton` and `exact` add to A's diagonal
  bool value_path = true;
  int features = 0;         // performer: random features; 0: floor(d ln d)
  int redraw_steps = 1000;  // performer: training steps between two draws; 0: never
  int hash_rounds = 4;      // reformer: independent hashes, whose results are combined
  int bucket_size = 64;     // reformer: tokens of a chunk, which sees itself and the one before
  Stage4 stage4 = Stage4::kSoftmax;

  // Families of the zoo (describe/zoo/zoo.h) are built from these instead; empty for SOFT's own.
  std::vector<Numbers> numbers;

  bool in_zoo() const { return !numbers.empty(); }
  const std::vector<int>& list(std::string_view key) const;
  int number(std::string_view key) const { return list(key).front(); }
};

// What one attention layer needs to know; derived from the model's row.
struct AttentionSpec {
  Mechanism mechanism = Mechanism::kSoft;
  int dim = 0;
  int heads = 1;
  int ratio = 1;
  int value_kernel = 0;  // 0: no value path
  KernelScale kernel_scale = KernelScale::kReleased;
  Normalise normalise = Normalise::kNone;  // see normalisation_of
  Sampler sampler = Sampler::kConv;
  int landmarks = 0;
  Inverse inverse = Inverse::kNewton;
  InverseGrad inverse_grad = InverseGrad::kOneShot;
  int newton_steps = 20;
  double epsilon = 0.01;
  int features = 0;
  int redraw_steps = 1000;
  int hash_rounds = 4;
  int bucket_size = 64;
  bool sequence = false;               // 1-D: samplers and value path slide along one axis
  int projection = 256;                // linformer on sequences: rows that K and V shrink to
  int longest = 4096;                  // linformer on sequences: tokens its projection is made for
  LayerForm names = LayerForm::kPost;  // published parameter names of SOFT (W_q …) or ViT (q, kv …)

  int head_dim() const { return dim / heads; }
};

constexpr int kSmallestSide = 32;     // pixels; below this a pyramid runs out of grid
constexpr int kLargestSide = 16'384;  // pixels; keeps the counts of the cost model in 64 bits

// Performer's random features as files name them; drawn, neither learned nor averaged.
constexpr std::string_view kFeaturesName = "omega";

// ---- The table of models (spec/table.cpp)
std::vector<std::string_view> model_names();
ModelSpec find_model(std::string_view name);  // usage error with the nearest name
int base_head_dim();                          // 32 throughout the SOFT family

// ---- Questions about a spec
AttentionSpec attention_of(const ModelSpec& spec, int stage);  // stage counts from 0
LayerForm layer_of(const ModelSpec& spec, int stage);
bool has_class_token(const ModelSpec& spec, int stage);
bool uses_landmarks(Mechanism mechanism);               // soft and soft-norm
Normalise normalisation_of(const AttentionSpec& spec);  // kCore for soft-norm
bool shortens_keys(Mechanism mechanism);  // these, and the rivals that pool or project K
bool shares_query_and_key(Mechanism mechanism);
Inverse default_inverse(Mechanism mechanism);
int feature_count(const AttentionSpec& spec);  // performer's random features
int stem_stride(const ModelSpec& spec);        // pixels between two tokens of the first stage
Grid stage_grid(const ModelSpec& spec, int stage,
                Grid image);  // tokens per side, class token aside

// Throws a usage error naming the field and the cure when the row cannot be built.
void validate(const ModelSpec& spec);
void validate(const AttentionSpec& spec);
// Throws when this image size cannot run: under 32 px, or fewer tokens than fixed landmarks.
// `blame` says whether a picture is at fault or the request.
void check_image(const ModelSpec& spec, Grid image, Fault blame = Fault::kWorld);

// ---- Settings (spec/fields.cpp): the same keys on the command line (--set key=value) and in JSON
std::vector<std::string_view> field_names();
struct FieldHelp {
  std::string_view key;
  std::string values;        // what may be written: "on, off", "N", "conv, avg, …"
  std::string_view meaning;  // one line
};
std::vector<FieldHelp> field_help();                       // every key, in the order of the table
std::vector<FieldHelp> field_help(const ModelSpec& spec);  // those that this model has
void set_field(ModelSpec& spec, std::string_view key, std::string_view value);
void apply_setting(ModelSpec& spec, std::string_view key_equals_value);
Json settings_of(const ModelSpec& spec);  // every key with its value, as text
Json to_json(const ModelSpec& spec);      // name, family and settings
ModelSpec spec_from_json(const Json& json, const std::string& what);

}  // namespace soft
