// The settable fields of a ModelSpec. One table serves --set, the JSON in weights files and the
// docs.
#include <fmt/ranges.h>

#include <functional>

#include "base/error.h"
#include "base/nearest.h"
#include "base/printable.h"
#include "base/setting.h"
#include "spec/model_spec.h"
#include "spec/zoo_fields.h"

namespace soft {
namespace {

struct Field {
  std::string_view key;
  std::function<void(ModelSpec&, std::string_view)> set;
  std::function<std::string(const ModelSpec&)> get;
  std::string values;        // what may be written, for people
  std::string_view meaning;  // one line, for people
  bool later = false;        // files written before it existed lack it and mean its default
};

Field later(Field field) {
  field.later = true;
  return field;
}

constexpr const char* kSwitch = "on, off";
constexpr const char* kPerStage = "N,N,N,N (a number per stage)";

template <class Enum>
std::string values_of(Enum) {
  return fmt::format("{}", fmt::join(names_of(Enum{}), ", "));
}

Field int_field(std::string_view key, int ModelSpec::*member, std::string_view meaning) {
  return {key,
          [=](ModelSpec& s, std::string_view text) { s.*member = parse_whole<int>(key, text); },
          [=](const ModelSpec& s) { return std::to_string(s.*member); }, "N", meaning};
}

Field switch_field(std::string_view key, bool ModelSpec::*member, std::string_view meaning) {
  return {key, [=](ModelSpec& s, std::string_view text) { s.*member = parse_switch(key, text); },
          [=](const ModelSpec& s) { return s.*member ? "on" : "off"; }, kSwitch, meaning};
}

template <class Enum>
Field enum_field(std::string_view key, Enum ModelSpec::*member, std::string_view meaning) {
  return {key,
          [=](ModelSpec& s, std::string_view text) { s.*member = parse_enum<Enum>(key, text); },
          [=](const ModelSpec& s) { return std::string(name_of(s.*member)); }, values_of(Enum{}),
          meaning};
}

// A number per stage: "64,128,320,512".
Field stage_field(std::string_view key, int StageSpec::*member, std::string_view meaning) {
  return {key,
          [=](ModelSpec& s, std::string_view text) {
            const auto values = parse_list(key, text, s.stages.size());
            for (size_t i = 0; i < values.size(); ++i) s.stages[i].*member = values[i];
          },
          [=](const ModelSpec& s) {
            std::string text;
            for (const StageSpec& stage : s.stages) {
              text += (text.empty() ? "" : ",") + std::to_string(stage.*member);
            }
            return text;
          },
          kPerStage, meaning};
}

// Choosing a mechanism brings that mechanism's own default inverse; a later inverse=… overrides it.
// One without landmarks has no use for their scale and normalisation, and soft-norm is one itself.
Field attention_field() {
  return {"attention",
          [](ModelSpec& s, std::string_view text) {
            s.attention = parse_enum<Mechanism>("attention", text);
            s.inverse = default_inverse(s.attention);
            if (s.attention != Mechanism::kSoft) s.normalise = Normalise::kNone;
            if (!uses_landmarks(s.attention)) s.kernel_scale = KernelScale::kReleased;
          },
          [](const ModelSpec& s) { return std::string(name_of(s.attention)); },
          values_of(Mechanism{}), "how tokens look at each other in stages 1 to 3"};
}

// normalise=core and norm=on mean attention=soft-norm, with its own default inverse.
void choose_core(ModelSpec& spec, bool core) {
  const Mechanism wanted = core ? Mechanism::kSoftNorm : Mechanism::kSoft;
  if (core) spec.normalise = Normalise::kNone;
  if (spec.attention == wanted) return;
  spec.attention = wanted;
  spec.inverse = default_inverse(wanted);
}

// Shorthand: norm=on is attention=soft-norm, norm=off is attention=soft.
Field norm_field() {
  return {"norm",
          [](ModelSpec& s, std::string_view text) {
            const bool norm = parse_switch("norm", text);
            if (!uses_landmarks(s.attention)) {
              fail_usage("norm belongs to attention=soft, not {}", name_of(s.attention));
            }
            choose_core(s, norm);
          },
          [](const ModelSpec& s) { return s.attention == Mechanism::kSoftNorm ? "on" : "off"; },
          kSwitch, "shorthand: on is attention=soft-norm, off is attention=soft"};
}

Field normalise_field() {
  return {"normalise",
          [](ModelSpec& s, std::string_view text) {
            const auto form = parse_enum<Normalise>("normalise", text);
            if (uses_landmarks(s.attention)) choose_core(s, form == Normalise::kCore);
            s.normalise = s.attention == Mechanism::kSoftNorm ? Normalise::kNone : form;
          },
          [](const ModelSpec& s) {
            const bool core = s.attention == Mechanism::kSoftNorm;
            return std::string(name_of(core ? Normalise::kCore : s.normalise));
          },
          values_of(Normalise{}), "SOFT: what its rows are divided by; core is soft-norm"};
}

// pyramid=off keeps the attention's settings and takes the flat frame of vit-small-384x12 (Table
// 5a).
Field pyramid_field() {
  return {"pyramid",
          [](ModelSpec& s, std::string_view text) {
            const bool pyramid = parse_switch("pyramid", text);
            if (pyramid == s.pyramid) return;
            const ModelSpec frame = find_model(pyramid ? "soft-tiny" : "vit-small-384x12");
            s.pyramid = pyramid;
            s.stages = frame.stages;
            s.class_token = frame.class_token;
            s.layer = frame.layer;
          },
          [](const ModelSpec& s) { return s.pyramid ? "on" : "off"; }, kSwitch,
          "four stages with shrinking grids, or one flat stage"};
}

Field stem_field() {
  return {"stem_strides",
          [](ModelSpec& s, std::string_view text) {
            const auto values = parse_list("stem_strides", text, 3);
            std::copy(values.begin(), values.end(), s.stem_strides.begin());
          },
          [](const ModelSpec& s) {
            const auto& v = s.stem_strides;
            return fmt::format("{},{},{}", v[0], v[1], v[2]);
          },
          "N,N,N", "strides of the three convolutions of the stem"};
}

Field epsilon_field() {
  return {"epsilon",
          [](ModelSpec& s, std::string_view text) { s.epsilon = parse_real("epsilon", text); },
          [](const ModelSpec& s) { return fmt::format("{}", s.epsilon); }, "X",
          "what inverse=newton and exact add to the landmarks' diagonal"};
}

// The order matters when a stored spec is read back: the frame first, then the mechanism, then the
// switches that a mechanism presets.
const std::vector<Field>& fields() {
  static const std::vector<Field> table{
      pyramid_field(),
      stage_field("dims", &StageSpec::dim, "channels"),
      stage_field("heads", &StageSpec::heads, "heads of attention"),
      stage_field("depths", &StageSpec::depth, "layers"),
      stage_field("ratios", &StageSpec::ratio, "side of the window that yields one landmark"),
      stage_field("value_kernels", &StageSpec::value_kernel,
                  "side of the value path's kernel; 0: none"),
      int_field("image_size", &ModelSpec::image_size, "side of the pictures, in pixels"),
      int_field("classes", &ModelSpec::classes, "classes it tells apart"),
      int_field("patch", &ModelSpec::patch, "flat frame: side of a patch, in pixels"),
      stem_field(),
      int_field("stem_dim", &ModelSpec::stem_dim, "channels inside the stem"),
      switch_field("overlap", &ModelSpec::overlap,
                   "patch embeddings of 3x3 convolutions, or of disjoint patches"),
      switch_field("class_token", &ModelSpec::class_token,
                   "a token for the answer, or the mean of all tokens"),
      enum_field("layer", &ModelSpec::layer, "flat frame: LayerNorm after the residual, or before"),
      int_field("mlp_ratio", &ModelSpec::mlp_ratio,
                "width of a layer's MLP, in channels of the layer"),
      attention_field(),
      norm_field(),
      later(enum_field("kernel_scale", &ModelSpec::kernel_scale,
                       "scale of LayerNorm's landmarks: none, or the tokens' own")),
      later(normalise_field()),
      enum_field("sampler", &ModelSpec::sampler, "how landmarks are taken from the tokens"),
      int_field("landmarks", &ModelSpec::landmarks,
                "landmarks at any size; 0: one per window of `ratios`"),
      enum_field("inverse", &ModelSpec::inverse, "how the landmarks' matrix is inverted"),
      enum_field("inverse_grad", &ModelSpec::inverse_grad,
                 "training: derivative of the inverse, or of its steps"),
      int_field("newton_steps", &ModelSpec::newton_steps, "steps of the Newton inverse"),
      epsilon_field(),
      switch_field("value_path", &ModelSpec::value_path,
                   "a convolution of the values beside the attention"),
      enum_field("stage4", &ModelSpec::stage4, "attention of the last stage"),
      later(int_field("features", &ModelSpec::features, "performer: random features; 0: d ln d")),
      later(int_field("redraw_steps", &ModelSpec::redraw_steps,
                      "performer: training steps between two draws; 0: never")),
      later(int_field("hash_rounds", &ModelSpec::hash_rounds, "reformer: independent hashes")),
      later(int_field("bucket_size", &ModelSpec::bucket_size, "reformer: tokens of a chunk")),
  };
  return table;
}

bool is_shorthand(std::string_view key) { return key == "norm"; }

}  // namespace

std::vector<std::string_view> field_names() {
  std::vector<std::string_view> names;
  for (const Field& field : fields()) names.push_back(field.key);
  return names;
}

std::vector<FieldHelp> field_help() {
  std::vector<FieldHelp> help;
  for (const Field& field : fields()) help.push_back({field.key, field.values, field.meaning});
  return help;
}

std::vector<FieldHelp> field_help(const ModelSpec& spec) {
  return spec.in_zoo() ? zoo_field_help(spec) : field_help();
}

void set_field(ModelSpec& spec, std::string_view key, std::string_view value) {
  if (spec.in_zoo()) return set_zoo_number(spec, key, value);
  for (const Field& field : fields()) {
    if (field.key == key) return field.set(spec, value);
  }
  fail_usage(
      "unknown setting '{}'{}; `soft info soft-tiny --settings` lists those of a model, "
      "`soft train --list-settings` those of training, too",
      key, hint(key, field_names()));
}

void apply_setting(ModelSpec& spec, std::string_view text) {
  const Setting setting = parse_setting(text);
  set_field(spec, setting.key, setting.value);
}

Json settings_of(const ModelSpec& spec) {
  if (spec.in_zoo()) return zoo_numbers(spec);
  Json json = Json::object();
  for (const Field& field : fields()) {
    if (!is_shorthand(field.key)) json[std::string(field.key)] = field.get(spec);
  }
  return json;
}

Json to_json(const ModelSpec& spec) {
  Json json{{"name", spec.name}, {"family", spec.family}};
  json.update(settings_of(spec));
  return json;
}

ModelSpec spec_from_json(const Json& json, const std::string& what) {
  if (!json.is_object()) fail("{}: the model's spec is not a JSON object", what);
  const auto text = [&](const std::string& key) {
    if (!json.contains(key) || !json[key].is_string()) fail("{}: spec has no '{}'", what, key);
    const auto value = json[key].get<std::string>();
    if (shown(value) != value) fail("{}: spec's '{}' is '{}', no text", what, key, shown(value));
    return value;
  };
  // Cards of version 0.1 call a frame of SOFT's deit-small, which now is the published one.
  if (is_in_zoo(text("name")) && !json.contains("pyramid")) return zoo_spec_from_json(json, what);
  ModelSpec spec = find_model("soft-tiny");  // the frame; every field below is overwritten
  spec.name = text("name");
  spec.family = text("family");
  try {
    for (const Field& field : fields()) {
      const std::string key(field.key);
      if (is_shorthand(key) || (field.later && !json.contains(key))) continue;
      field.set(spec, text(key));
    }
    validate(spec);
  } catch (const Error& error) {
    fail("{}: {}", what, shown(error.what()));
  }
  return spec;
}

}  // namespace soft
