#include <map>

#include "base/error.h"
#include "spec/model_spec.h"
#include "support/support.h"

namespace soft {
namespace {

using test::error_of;
using testing::HasSubstr;

struct Change {
  const char* key;
  const char* value;  // differs from soft-tiny's
};

// One row for every key that `--set` knows.
constexpr Change kChanges[] = {{"pyramid", "off"},
                               {"dims", "32,64,160,256"},
                               {"heads", "1,2,5,8"},
                               {"depths", "2,2,2,2"},
                               {"ratios", "4,2,1,1"},
                               {"value_kernels", "3,3,3,3"},
                               {"image_size", "384"},
                               {"classes", "10"},
                               {"patch", "8"},
                               {"stem_strides", "1,1,2"},
                               {"stem_dim", "24"},
                               {"overlap", "off"},
                               {"class_token", "off"},
                               {"layer", "pre"},
                               {"mlp_ratio", "2"},
                               {"attention", "gaussian"},
                               {"norm", "on"},
                               {"kernel_scale", "paper"},
                               {"normalise", "rows"},
                               {"sampler", "avg"},
                               {"landmarks", "36"},
                               {"inverse", "exact"},
                               {"inverse_grad", "unrolled"},
                               {"newton_steps", "6"},
                               {"epsilon", "0.001"},
                               {"value_path", "off"},
                               {"stage4", "soft"},
                               {"features", "64"},
                               {"redraw_steps", "10"},
                               {"hash_rounds", "2"},
                               {"bucket_size", "32"}};

// Settings that files of the first version lack; their defaults are what those files mean.
constexpr std::string_view kLater[] = {"kernel_scale", "normalise",   "features",
                                       "redraw_steps", "hash_rounds", "bucket_size"};

bool came_later(const std::string& key) {
  return std::find(std::begin(kLater), std::end(kLater), key) != std::end(kLater);
}

TEST(Fields, TheListOfChangesNamesEveryKey) {
  std::vector<std::string_view> keys;
  for (const Change& change : kChanges) keys.push_back(change.key);
  EXPECT_THAT(keys, testing::ElementsAreArray(field_names()));
}

TEST(Fields, EveryKeySaysInOneLineWhatItMeansAndWhatItTakes) {
  std::vector<std::string_view> keys;
  for (const FieldHelp& help : field_help()) {
    keys.push_back(help.key);
    EXPECT_GT(help.meaning.size(), 5u) << help.key;
    EXPECT_LE(help.meaning.size(), 62u) << help.key;  // beside its key on a terminal
    EXPECT_EQ(help.meaning.find('\n'), std::string_view::npos) << help.key;
    EXPECT_FALSE(help.values.empty()) << help.key;
  }
  EXPECT_THAT(keys, testing::ElementsAreArray(field_names()));
}

TEST(Fields, TheValuesOfAnEnumerationAreItsNames) {
  std::map<std::string_view, std::string> values;
  for (const FieldHelp& help : field_help()) values[help.key] = help.values;
  EXPECT_EQ(values["sampler"], "conv, avg, random, biased");
  EXPECT_EQ(values["value_path"], "on, off");
  EXPECT_EQ(values["landmarks"], "N");
}

TEST(Fields, EveryKeyChangesTheSpecAndIsReadBackAsWritten) {
  for (const Change& change : kChanges) {
    ModelSpec spec = find_model("soft-tiny");
    set_field(spec, change.key, change.value);
    EXPECT_NE(settings_of(spec), settings_of(find_model("soft-tiny"))) << change.key;
    if (std::string_view(change.key) != "norm") {  // a shorthand for attention=soft-norm
      EXPECT_EQ(settings_of(spec).at(change.key), change.value) << change.key;
    }
  }
}

TEST(Fields, EveryChangedSpecSurvivesJson) {
  for (const Change& change : kChanges) {
    ModelSpec spec = find_model("soft-tiny");
    set_field(spec, change.key, change.value);
    if (std::string_view(change.key) == "class_token") set_field(spec, "stage4", "soft");
    EXPECT_EQ(to_json(spec_from_json(to_json(spec), "x")), to_json(spec)) << change.key;
  }
}

TEST(Fields, AMechanismBringsItsOwnInverseAndALaterSettingOverridesIt) {
  ModelSpec spec = find_model("soft-tiny");
  set_field(spec, "norm", "on");
  EXPECT_EQ(spec.attention, Mechanism::kSoftNorm);
  EXPECT_EQ(spec.inverse, Inverse::kNewtonAdaptive);
  set_field(spec, "inverse", "newton-paper");
  EXPECT_EQ(spec.inverse, Inverse::kNewtonPaper);
  set_field(spec, "norm", "off");
  EXPECT_EQ(to_json(spec), to_json(find_model("soft-tiny")));
}

TEST(Fields, NormaliseCoreIsSoftNorm) {
  ModelSpec spec = find_model("soft-tiny");
  set_field(spec, "normalise", "core");
  ModelSpec norm = find_model("soft-tiny");
  set_field(norm, "norm", "on");
  EXPECT_EQ(to_json(spec), to_json(norm));
  EXPECT_EQ(settings_of(norm).at("normalise"), "core");
  set_field(spec, "normalise", "rows");
  EXPECT_EQ(spec.attention, Mechanism::kSoft);
  EXPECT_EQ(spec.inverse, Inverse::kNewton);
  set_field(spec, "norm", "on");
  EXPECT_EQ(to_json(spec), to_json(norm));
}

TEST(Fields, ASoftNormFileFromBeforeNormaliseMeansCore) {
  Json json = to_json(find_model("soft-tiny-norm"));
  json.erase("normalise");
  json.erase("kernel_scale");
  EXPECT_EQ(to_json(spec_from_json(json, "x")), to_json(find_model("soft-tiny-norm")));
}

TEST(Fields, AMechanismWithoutLandmarksDropsTheirForms) {
  ModelSpec spec = find_model("soft-tiny");
  set_field(spec, "kernel_scale", "paper");
  set_field(spec, "normalise", "rows");
  set_field(spec, "attention", "soft");
  EXPECT_EQ(settings_of(spec).at("normalise"), "rows");
  set_field(spec, "attention", "none");
  EXPECT_NO_THROW(validate(spec));
  EXPECT_EQ(settings_of(spec).at("normalise"), "none");
  EXPECT_EQ(settings_of(spec).at("kernel_scale"), "released");
}

TEST(Fields, AFlatFrameKeepsTheAttention) {
  ModelSpec spec = find_model("soft-tiny-norm");
  set_field(spec, "pyramid", "off");
  EXPECT_NO_THROW(validate(spec));
  EXPECT_EQ(spec.stages.size(), 1u);
  EXPECT_EQ(spec.attention, Mechanism::kSoftNorm);
}

TEST(Fields, MistypedKeysAndValuesAreAnsweredWithTheNearestName) {
  ModelSpec spec = find_model("soft-tiny");
  const auto refusal = [&](const char* text) {
    return error_of([&] { apply_setting(spec, text); });
  };
  EXPECT_THAT(refusal("sampeler=avg"), HasSubstr("did you mean 'sampler'"));
  EXPECT_THAT(refusal("sampler=agv"), HasSubstr("did you mean 'avg'"));
  EXPECT_THAT(refusal("inverse=newton-papr"), HasSubstr("did you mean 'newton-paper'"));
  EXPECT_THAT(refusal("attention=softmaxx"), HasSubstr("did you mean 'softmax'"));
}

TEST(Fields, MalformedValuesAreRefusedAndChangeNothing) {
  ModelSpec spec = find_model("soft-tiny");
  for (const char* text : {"sampler",          "=avg",
                           "classes=",         "classes=ten",
                           "classes=1.5",      "classes=99999999999",
                           "classes= 7",       "epsilon=nan",
                           "epsilon=inf",      "epsilon=",
                           "epsilon=0.1x",     "epsilon=1e999",
                           "value_path=maybe", "dims=1,2,3",
                           "dims=1,2,3,4,5",   "dims=1,2,3,x",
                           "dims=1,2,3,",      "stem_strides=2,2",
                           "norm=perhaps",     ""}) {
    EXPECT_FALSE(error_of([&] { apply_setting(spec, text); }).empty()) << text;
  }
  EXPECT_EQ(to_json(spec), to_json(find_model("soft-tiny")));
}

TEST(Fields, NormBelongsToSoftOnly) {
  ModelSpec spec = find_model("vit-small-pre");
  EXPECT_THAT(error_of([&] { set_field(spec, "norm", "on"); }), HasSubstr("attention=soft"));
}

TEST(Fields, AStoredSpecWithHolesOrNonsenseIsRefusedWithItsSource) {
  const Json whole = to_json(find_model("soft-tiny"));
  const auto refusal = [](const Json& json) {
    return error_of([&] { spec_from_json(json, "'x.safetensors'"); });
  };
  for (const auto& [key, value] : whole.items()) {
    Json damaged = whole;
    damaged.erase(key);
    if (came_later(key)) {
      EXPECT_EQ(to_json(spec_from_json(damaged, "x")), whole) << key;
    } else {
      EXPECT_THAT(refusal(damaged), HasSubstr("'x.safetensors': spec has no '" + key)) << key;
    }
    damaged[key] = 7;
    EXPECT_THAT(refusal(damaged), HasSubstr("'x.safetensors'")) << key;
  }
  Json absurd = whole;
  absurd["dims"] = "2000000000,1,1,1";
  EXPECT_THAT(refusal(absurd), HasSubstr("must lie in"));
  EXPECT_THAT(refusal(Json::array()), HasSubstr("not a JSON object"));
}

}  // namespace
}  // namespace soft
