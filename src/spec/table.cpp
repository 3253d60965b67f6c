// The table of models. Adding one is adding a row.
#include "base/error.h"
#include "base/nearest.h"
#include "spec/all_models.h"
#include "spec/model_spec.h"

namespace soft {
namespace {

struct Row {
  std::string_view name;
  std::string_view family;
  bool pyramid;
  int image_size;
  int classes;
  std::array<int, 3> stem_strides;
  Mechanism attention;
  Inverse inverse;
  bool class_token;
  LayerForm layer;
  std::array<StageSpec, 4> stages;  // unused ones are all zero
  int stem_dim = 32;
  int mlp_ratio = 4;
  bool rows = false;  // the paper's scale, and rows divided by their sums (docs/forms.md)
};

// clang-format off
constexpr std::array<StageSpec, 4> kTiny{{{64, 2, 1, 8, 9}, {128, 4, 2, 4, 5}, {320, 10, 3, 2, 3}, {512, 16, 2, 1, 3}}};
constexpr std::array<StageSpec, 4> kSmall{{{64, 2, 1, 8, 9}, {128, 4, 3, 4, 5}, {320, 10, 7, 2, 3}, {512, 16, 4, 1, 3}}};
constexpr std::array<StageSpec, 4> kMedium{{{64, 2, 1, 8, 9}, {128, 4, 3, 4, 5}, {288, 9, 29, 2, 3}, {512, 16, 5, 1, 3}}};
constexpr std::array<StageSpec, 4> kLarge{{{64, 2, 1, 8, 9}, {128, 4, 3, 4, 5}, {320, 10, 40, 2, 3}, {512, 16, 5, 1, 3}}};
constexpr std::array<StageSpec, 4> kHuge{{{64, 2, 1, 8, 9}, {128, 4, 5, 4, 5}, {352, 11, 49, 2, 3}, {512, 16, 5, 1, 3}}};
constexpr std::array<StageSpec, 4> kNano{{{32, 1, 1, 4, 9}, {64, 2, 2, 2, 5}, {128, 4, 2, 1, 3}, {192, 6, 1, 1, 3}}};
constexpr std::array<StageSpec, 4> kPico{{{32, 1, 1, 4, 5}, {64, 2, 1, 2, 3}, {64, 2, 1, 1, 3}, {96, 3, 1, 1, 3}}};
constexpr std::array<StageSpec, 4> kMini{{{64, 2, 1, 4, 9}, {96, 3, 2, 2, 5}, {160, 5, 3, 1, 3}, {256, 8, 2, 1, 3}}};
constexpr std::array<StageSpec, 4> kVitSmall{{{384, 12, 12, 2, 3}}};
constexpr std::array<StageSpec, 4> kDeitSmall{{{384, 6, 12, 2, 3}}};

constexpr Row soft_row(std::string_view name, const std::array<StageSpec, 4>& stages) {
  return {name, "soft", true, 224, 1000, {2, 1, 2}, Mechanism::kSoft, Inverse::kNewton, true, LayerForm::kPost, stages};
}
constexpr Row norm_row(std::string_view name, const std::array<StageSpec, 4>& stages) {
  return {name, "soft-norm", true, 224, 1000, {2, 1, 2}, Mechanism::kSoftNorm, Inverse::kNewtonAdaptive, true, LayerForm::kPost, stages};
}

constexpr Row with_rows(std::string_view name, Row row) {
  row.name = name;
  row.family = "soft-rows";
  row.rows = true;
  return row;
}

constexpr Row kNanoRow{"soft-nano", "soft", true, 32, 10, {1, 1, 2}, Mechanism::kSoft, Inverse::kNewton, true, LayerForm::kPost, kNano};
constexpr Row kPicoRow{"soft-pico", "soft", true, 32, 10, {2, 1, 1}, Mechanism::kSoft, Inverse::kNewton, true, LayerForm::kPost, kPico, 16, 2};
constexpr Row kMiniRow{"soft-mini", "soft", true, 64, 200, {2, 1, 2}, Mechanism::kSoft, Inverse::kNewton, true, LayerForm::kPost, kMini};

constexpr std::array kTable{
    soft_row("soft-tiny", kTiny),
    soft_row("soft-small", kSmall),
    soft_row("soft-medium", kMedium),
    soft_row("soft-large", kLarge),
    soft_row("soft-huge", kHuge),
    norm_row("soft-tiny-norm", kTiny),
    norm_row("soft-small-norm", kSmall),
    norm_row("soft-medium-norm", kMedium),
    norm_row("soft-large-norm", kLarge),
    norm_row("soft-huge-norm", kHuge),
    kNanoRow,
    kPicoRow,
    kMiniRow,
    with_rows("soft-pico-rows", kPicoRow),
    with_rows("soft-nano-rows", kNanoRow),
    with_rows("soft-mini-rows", kMiniRow),
    with_rows("soft-tiny-rows", soft_row("", kTiny)),
    with_rows("soft-small-rows", soft_row("", kSmall)),
    with_rows("soft-medium-rows", soft_row("", kMedium)),
    with_rows("soft-large-rows", soft_row("", kLarge)),
    with_rows("soft-huge-rows", soft_row("", kHuge)),
    Row{"vit-small-384x12", "vit", false, 224, 1000, {2, 1, 2}, Mechanism::kSoft, Inverse::kNewton, false, LayerForm::kPost, kVitSmall},
    Row{"vit-small-pre", "vit", false, 224, 1000, {2, 1, 2}, Mechanism::kSoftmax, Inverse::kNewton, true, LayerForm::kPre, kDeitSmall},
};
// clang-format on

constexpr int kHeadDim = 32;

constexpr bool rows_are_sound() {
  for (const Row& row : kTable) {
    const int count = row.pyramid ? 4 : 1;
    for (int s = 0; s < count; ++s) {
      const StageSpec& stage = row.stages[s];
      if (stage.depth < 1 || stage.heads < 1 || stage.dim % stage.heads != 0) return false;
      if (row.pyramid && stage.dim / stage.heads != kHeadDim) return false;
      if (stage.value_kernel % 2 != 1 || stage.ratio < 1) return false;
    }
  }
  return true;
}
static_assert(rows_are_sound(),
              "every stage needs heads that divide its dim and an odd value kernel");

}  // namespace

namespace {

ModelSpec from_zoo(const ZooRow& row) {
  ModelSpec spec;
  spec.name = row.name;
  spec.family = row.family;
  spec.numbers = row.numbers;
  return spec;
}

}  // namespace

int base_head_dim() { return kHeadDim; }

std::vector<std::string_view> model_names() {
  std::vector<std::string_view> names;
  for (const Row& row : kTable) names.push_back(row.name);
  return names;
}

std::vector<std::string_view> all_model_names() {
  std::vector<std::string_view> names = model_names();
  for (const ZooRow& row : zoo_table()) names.push_back(row.name);
  return names;
}

ModelSpec find_model(std::string_view name) {
  for (const Row& row : kTable) {
    if (row.name != name) continue;
    ModelSpec spec;
    spec.name = row.name;
    spec.family = row.family;
    spec.pyramid = row.pyramid;
    spec.stages.assign(row.stages.begin(), row.stages.begin() + (row.pyramid ? 4 : 1));
    spec.image_size = row.image_size;
    spec.classes = row.classes;
    spec.stem_strides = row.stem_strides;
    spec.attention = row.attention;
    spec.inverse = row.inverse;
    spec.class_token = row.class_token;
    spec.layer = row.layer;
    spec.stem_dim = row.stem_dim;
    spec.mlp_ratio = row.mlp_ratio;
    if (row.rows) {
      spec.kernel_scale = KernelScale::kPaper;
      spec.normalise = Normalise::kRows;
    }
    return spec;
  }
  for (const ZooRow& row : zoo_table()) {
    if (row.name == name) return from_zoo(row);
  }
  fail_usage("unknown model '{}'{}; `soft models` lists them all", name,
             hint(name, all_model_names()));
}

}  // namespace soft
