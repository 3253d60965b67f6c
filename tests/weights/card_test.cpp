#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "support/support.h"
#include "weights/ablations.h"
#include "weights/weights.h"

namespace soft {
namespace {

using test::hollow_weights;
using testing::AllOf;
using testing::HasSubstr;

// ---- Cards stored in files

Card sample_card() {
  Card card;
  card.spec = find_model("soft-nano");
  set_field(card.spec, "norm", "on");
  card.mean = {0.1, 0.2, 0.3};
  card.std = {1, 2, 3};
  card.crop_fraction = 0.875;
  card.shown = HeadPlace{3, 2, 4};
  for (int i = 0; i < card.spec.classes; ++i)
    card.class_names.push_back("class " + std::to_string(i));
  card.extra = Json{{"top1", 0.1 + 0.2}, {"recipe", {{"epochs", 3}}}};
  return card;
}

TEST(Card, SurvivesTheFileUnchanged) {
  const Card card = sample_card();
  Weights weights = hollow_weights(card.spec);
  weights.metadata = metadata_of(card);
  const Card again = card_of(weights);
  EXPECT_EQ(to_json(again), to_json(card));
  EXPECT_EQ(again.spec.attention, Mechanism::kSoftNorm);
  EXPECT_EQ(again.class_names.at(9), "class 9");
  EXPECT_EQ(again.shown.value().head, 4);
  EXPECT_EQ(again.extra["top1"], 0.1 + 0.2);
}

TEST(Card, LosesNothingInARealFile) {
  const test::TemporaryFolder folder;
  const Weights mini = read_weights(test::golden("mini.safetensors"));
  Card card = infer_card(mini);
  card.extra = "note";
  std::vector<NamedTensor> tensors;
  for (const TensorShape& tensor : tensors_of(card.spec)) {
    tensors.push_back({tensor.name, mini.tensors.at(tensor.name)});
  }
  write_safetensors(folder.path("mini"), tensors, metadata_of(card), {DType::kF16});
  const Weights again = read_weights(folder.path("mini"));
  EXPECT_EQ(to_json(card_of(again)), to_json(card));
  EXPECT_NEAR(to_floats(again.tensors.at("head.weight"))[0],
              to_floats(mini.tensors.at("head.weight"))[0], 1e-4);
}

TEST(Card, ClassNamesThatAreNotUtf8DoNotBreakTheFile) {
  Card card = sample_card();
  card.class_names[0] = "caf\xe9";
  Weights weights = hollow_weights(card.spec);
  weights.metadata = metadata_of(card);
  EXPECT_EQ(card_of(weights).class_names[0], "caf\xef\xbf\xbd");
}

TEST(Card, DefectsAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"version":2})", "version 2"},
      {R"({"version":"1"})", "'version' is not a number"},
      {R"([])", "no 'version'"},
      {R"({"preprocessing":null})", "no 'mean'"},
      {R"({"preprocessing":{"mean":[1,2],"std":[1,1,1],"crop_fraction":1,"size":32}})", "'mean'"},
      {R"({"preprocessing":{"mean":[0,0,0],"std":[1,0,1],"crop_fraction":1,"size":32}})",
       "std of 0"},
      {R"({"preprocessing":{"mean":[0,0,0],"std":[1,1,1],"crop_fraction":2,"size":32}})",
       "crop_fraction=2"},
      {R"({"preprocessing":{"mean":[0,0,0],"std":[1,1,1],"crop_fraction":1,"size":64}})",
       "image_size=32 differ"},
      {R"({"class_names":["a"]})", "names 1 classes for a model of 10"},
      {R"({"class_names":[1,2,3,4,5,6,7,8,9,10]})", "a class name is not text"},
      {R"({"shown":{"stage":2,"layer":1}})", "no 'head'"},
      {R"({"shown":{"stage":2,"layer":9,"head":1}})", "stage 2 layer 9 head 1, which soft-nano"},
      {R"({"shown":{"stage":-1e300,"layer":1,"head":1}})", "does not have"},
      {R"({"shown":{"stage":1.5,"layer":1,"head":1}})", "does not have"},
      {R"({"shown":null})", "no 'stage'"},
      {R"({"spec":{"name":"x"}})", "no 'family'"},
      {R"({"spec":null})", "not a JSON object"},
  };
  for (const auto& [patch, defect] : cases) {
    const Json changes = Json::parse(patch);
    Json json = changes.is_array() ? changes : to_json(sample_card());
    if (changes.is_object()) json.update(changes);
    Weights weights = hollow_weights(sample_card().spec);
    weights.metadata["soft"] = json.dump();
    const std::string message = test::error_of([&] { card_of(weights); });
    EXPECT_THAT(message, AllOf(HasSubstr(defect), HasSubstr("the card in"))) << patch;
  }
}

// Each of these would overflow an integer or ask for absurd amounts of memory.
TEST(Card, HugeNumbersInAStoredSpecAreRefused) {
  const std::pair<const char*, const char*> settings[] = {
      {"dims", "64,128,320,2147483616"}, {"depths", "1,2,2000000000,2"},
      {"ratios", "2147483647,4,2,1"},    {"value_kernels", "2147483647,5,3,3"},
      {"landmarks", "2147395600"},       {"stem_strides", "2000000,2000000,2000000"},
      {"image_size", "2147483647"},      {"classes", "2147483647"},
      {"stem_dim", "2147483647"},        {"mlp_ratio", "2147483647"},
  };
  for (const auto& [key, value] : settings) {
    Json json = to_json(sample_card());
    json["spec"][key] = value;
    Weights weights = hollow_weights(sample_card().spec);
    weights.metadata["soft"] = json.dump();
    const std::string message = test::error_of([&] { card_of(weights); });
    EXPECT_THAT(message, HasSubstr("must lie in")) << key;
  }
}

TEST(Card, MustFitTheTensorsBesideIt) {
  Card card;
  card.spec = find_model("soft-tiny");
  Weights weights = hollow_weights(find_model("soft-nano"));
  weights.metadata = metadata_of(card);
  EXPECT_THAT(test::error_of([&] { card_of(weights); }), HasSubstr("not those of soft-tiny"));
}

TEST(Card, AModelThatContradictsTheStoredOneIsRefused) {
  Card card;
  card.spec = find_model("soft-tiny");
  Weights weights = hollow_weights(card.spec);
  weights.metadata = metadata_of(card);
  EXPECT_EQ(card_of(weights, "soft-tiny").spec.name, "soft-tiny");
  EXPECT_THAT(test::error_of([&] { card_of(weights, "soft-tiny-norm"); }),
              HasSubstr("holds soft-tiny, not soft-tiny-norm"));
  EXPECT_THAT(test::error_of([&] { card_of(weights, "soft-tinny"); }), HasSubstr("did you mean"));
}

// ---- Cards inferred from shapes

TEST(Inference, TheGoldenModelIsRecognisedDespiteForeignMetadata) {
  testing::internal::CaptureStderr();
  const Card card = card_of(read_weights(test::golden("mini.safetensors")));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("is custom for 224 px"));
  ModelSpec expected = find_model("soft-tiny");
  expected.name = "custom";
  expected.classes = 10;
  expected.stages = {{32, 1, 1, 8, 9}, {64, 2, 1, 4, 5}, {96, 3, 2, 2, 3}, {128, 4, 1, 1, 3}};
  EXPECT_EQ(to_json(card.spec), to_json(expected));
  EXPECT_EQ(card.mean, Card{}.mean);
}

TEST(Inference, PlainRowsAreRecognisedWhole) {
  for (std::string_view name : model_names()) {
    const ModelSpec row = find_model(name);
    // These look like their plain twins.
    if (row.attention == Mechanism::kSoftNorm || row.family == "soft-rows") continue;
    EXPECT_EQ(to_json(card_of(hollow_weights(row)).spec), to_json(row)) << name;
  }
}

// What shapes show must come out right for any single change, so that the result fits again.
TEST(Inference, EveryAblationYieldsASpecWithTheSameTensors) {
  testing::internal::CaptureStderr();
  for (const ModelSpec& spec : test::models_and_ablations()) {
    const Weights weights = hollow_weights(spec);
    const ModelSpec inferred = card_of(weights).spec;
    EXPECT_NO_THROW(check_fit(weights, inferred)) << spec.name;
    EXPECT_EQ(inferred.pyramid, spec.pyramid) << spec.name;
    EXPECT_EQ(inferred.classes, spec.classes) << spec.name;
    if (spec.pyramid) {
      EXPECT_EQ(inferred.overlap, spec.overlap) << spec.name;
      EXPECT_EQ(inferred.stage4, spec.stage4) << spec.name;
    }
    if (uses_landmarks(spec.attention) && spec.sampler == Sampler::kConv) {
      EXPECT_EQ(inferred.sampler, Sampler::kConv) << spec.name;
      EXPECT_EQ(inferred.stages[0].ratio, spec.stages[0].ratio) << spec.name;
      EXPECT_EQ(inferred.stages[0].heads, spec.stages[0].heads) << spec.name;
    }
  }
  testing::internal::GetCapturedStderr();
}

TEST(Inference, AThousandClassesAreImagenets) {
  EXPECT_EQ(card_of(hollow_weights(find_model("soft-tiny"))).class_names.size(), 1000u);
  EXPECT_TRUE(card_of(hollow_weights(find_model("soft-nano"))).class_names.empty());
}

TEST(Inference, BothDepthsOfSmallAreSmall) {
  ModelSpec spec = find_model("soft-small");
  spec.stages[2].depth = 20;
  for (const char* model : {"", "soft-small", "soft-small-norm"}) {
    const ModelSpec found = card_of(hollow_weights(spec), model).spec;
    EXPECT_EQ(found.name, *model == '\0' ? "soft-small" : model);
    EXPECT_EQ(found.stages[2].depth, 20);
  }
}

TEST(Inference, InvisibleRatiosComeFromTheRowAndAreSaid) {
  ModelSpec spec = find_model("soft-tiny");
  set_field(spec, "sampler", "avg");
  testing::internal::CaptureStderr();
  const ModelSpec found = card_of(hollow_weights(spec)).spec;
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, AllOf(HasSubstr("sampler=avg"), HasSubstr("ratio 8 in stage 1")));
  EXPECT_EQ(to_json(found), to_json(spec));
}

TEST(Inference, TheModelSettlesWhatShapesCannotShow) {
  const Weights weights = hollow_weights(find_model("soft-tiny"));
  const ModelSpec spec = card_of(weights, "soft-tiny-norm").spec;
  EXPECT_EQ(spec.attention, Mechanism::kSoftNorm);
  EXPECT_EQ(spec.inverse, Inverse::kNewtonAdaptive);
  EXPECT_THAT(test::error_of([&] { card_of(weights, "soft-small"); }),
              AllOf(HasSubstr("not those of soft-small"), HasSubstr("missing block2.2.")));
}

TEST(Inference, ForeignFilesAreRefused) {
  Weights weights;
  weights.path = "bert";
  weights.tensors["encoder.weight"] = {DType::kF32, {2, 2}, nullptr};
  EXPECT_THAT(test::error_of([&] { card_of(weights); }),
              AllOf(HasSubstr("bert"), HasSubstr("pos_embed1")));
}

TEST(Inference, ShapesThatMakeNoModelAreRefused) {
  const auto refusal = [](const std::string& name, std::vector<int64_t> shape) {
    Weights weights = hollow_weights(find_model("soft-tiny"));
    weights.tensors[name].shape = std::move(shape);
    return test::error_of([&] { card_of(weights); });
  };
  EXPECT_THAT(refusal("pos_embed1", {1, 3137, 64}), HasSubstr("not a square grid"));
  EXPECT_THAT(refusal("pos_embed1", {1, 3136}), HasSubstr("impossible shape"));
  EXPECT_THAT(refusal("pos_embed3", {1, 196, 0}), HasSubstr("impossible shape"));
  EXPECT_THAT(refusal("head.weight", {int64_t{1} << 40, 512}), HasSubstr("impossible shape"));
  EXPECT_THAT(refusal("block1.0.att.mha.attn.conv.weight", {3, 1, 9, 9}), HasSubstr("3 heads"));
  EXPECT_THAT(refusal("block1.0.att.mha.attn.conv.weight", {2, 1, 8, 8}), HasSubstr("must be odd"));
  EXPECT_THAT(refusal("block3.2.att.norm1.weight", {5}),
              HasSubstr("block3.2.att.norm1.weight is 5, not 320"));
}

// ---- Fit

TEST(Fit, EveryKindOfMisfitIsNamedAndLongListsAreCut) {
  const ModelSpec spec = find_model("soft-nano");
  Weights weights = hollow_weights(spec);
  weights.tensors.erase("head.bias");
  weights.tensors["head.weight"].shape = {11, 192};
  weights.tensors["norm.weight"].type = DType::kI64;
  for (int i = 0; i < 8; ++i) weights.tensors["extra" + std::to_string(i)] = {};
  const std::string message = test::error_of([&] { check_fit(weights, spec); });
  EXPECT_THAT(message, HasSubstr("missing head.bias"));
  EXPECT_THAT(message, HasSubstr("unknown extra0, extra1, extra2, extra3, extra4 and 3 more"));
  EXPECT_THAT(message, HasSubstr("head.weight is 11x192, not 10x192"));
  EXPECT_THAT(message, HasSubstr("norm.weight holds I64 values"));
}

TEST(Fit, StatisticsThatCannotBeAreNamed) {
  const ModelSpec spec = find_model("soft-pico");
  const std::string variance = "patch_embed1.proj.1.running_var";
  const std::pair<float, const char*> cases[] = {
      {NAN, "holds nan"}, {INFINITY, "holds inf"}, {-1, "holds -1"}};
  for (const auto& [value, defect] : cases) {
    Weights weights = random_weights(spec, 1);
    EXPECT_NO_THROW(check_fit(weights, spec));
    std::vector<float> values = to_floats(weights.tensors.at(variance));
    values.back() = value;
    weights.tensors.at(variance).data = reinterpret_cast<const uint8_t*>(values.data());
    EXPECT_THAT(test::error_of([&] { check_fit(weights, spec); }),
                HasSubstr(variance + " " + defect));
  }
}

}  // namespace
}  // namespace soft
