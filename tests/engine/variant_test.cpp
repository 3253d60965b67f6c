// Every switch of the SOFT family against the plain network, on odd sizes too.
#include "engine/mini.h"
#include "engine/plain_model.h"

namespace soft {
namespace {

using namespace test;

struct Variant {
  std::string name;
  std::vector<std::string> settings;
  Grid image{64, 64};
  std::string model = "soft-nano";
};

void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }

ModelSpec spec_of(const Variant& variant) {
  ModelSpec spec = find_model(variant.model);
  for (const std::string& setting : variant.settings) apply_setting(spec, setting);
  validate(spec);
  return spec;
}

class EngineVariant : public testing::TestWithParam<Variant> {};

TEST_P(EngineVariant, AgreesWithThePlainNetwork) {
  const ModelSpec spec = spec_of(GetParam());
  const RandomWeights weights(spec);
  const Grid image = GetParam().image;
  const std::vector<float> pixels = random_pixels(1, image);
  Workspace workspace;
  const auto logits = logits_of(Packed(weights.get(), spec), workspace, pixels, 1, image);
  const Doubles plain = PlainModel(weights.get(), spec).logits(pixels.data(), image);
  EXPECT_LT(relative_error(logits, {plain.begin(), plain.end()}), 1e-4f);
}

const std::vector<std::string> kFlat{"pyramid=off",   "dims=64",    "heads=2",
                                     "depths=2",      "ratios=2",   "patch=8",
                                     "image_size=32", "classes=10", "value_kernels=3"};

std::vector<std::string> flat(std::vector<std::string> more) {
  more.insert(more.begin(), kFlat.begin(), kFlat.end());
  return more;
}

INSTANTIATE_TEST_SUITE_P(
    Settings, EngineVariant,
    testing::Values(
        Variant{"released", {}}, Variant{"trained_size", {}, {32, 32}},
        Variant{"odd_size", {}, {37, 51}}, Variant{"wide", {}, {33, 130}},
        Variant{"norm", {"norm=on"}}, Variant{"norm_newton", {"norm=on", "inverse=newton"}},
        Variant{"paper_scale", {"kernel_scale=paper"}}, Variant{"rows", {"normalise=rows"}},
        Variant{"rows_paper_scale", {"normalise=rows", "kernel_scale=paper"}},
        Variant{"rows_wide", {"normalise=rows", "kernel_scale=paper", "landmarks=9"}, {33, 130}},
        Variant{"mean", {"normalise=mean", "kernel_scale=paper"}},
        Variant{"none", {"attention=none"}},
        Variant{"none_stage4_soft", {"attention=none", "stage4=soft"}},
        Variant{"adaptive", {"inverse=newton-adaptive"}}, Variant{"exact", {"inverse=exact"}},
        Variant{"exact_shifted", {"inverse=exact", "epsilon=0.1"}},
        Variant{"few_steps", {"newton_steps=12"}}, Variant{"avg", {"sampler=avg"}},
        Variant{"biased", {"sampler=biased"}}, Variant{"landmarks", {"landmarks=16"}},
        Variant{"landmarks_odd", {"landmarks=9"}, {45, 39}},
        Variant{"landmarks_avg", {"landmarks=9", "sampler=avg"}, {45, 39}},
        Variant{"landmarks_biased", {"landmarks=7", "sampler=biased"}},
        Variant{"no_value_path", {"value_path=off"}}, Variant{"pvt", {"overlap=off"}},
        Variant{"pvt_odd", {"overlap=off"}, {37, 51}}, Variant{"stage4_soft", {"stage4=soft"}},
        Variant{"stage4_soft_odd", {"stage4=soft"}, {75, 41}},
        Variant{"stage4_soft_bare", {"stage4=soft", "class_token=off", "value_path=off"}},
        Variant{"stage4_soft_no_class", {"stage4=soft", "class_token=off"}},
        Variant{"odd_channels", {"dims=20,36,40,60", "heads=2,3,5,3", "stem_dim=12"}},
        Variant{"one_class", {"classes=1"}}, Variant{"flat", flat({})},
        Variant{"flat_class_token", flat({"class_token=on"})},
        Variant{"flat_rows", flat({"normalise=rows", "kernel_scale=paper", "class_token=on"})},
        Variant{"flat_none", flat({"attention=none"})}, Variant{"flat_pre", flat({"layer=pre"})},
        Variant{"flat_pre_class_token", flat({"layer=pre", "class_token=on", "norm=on"})},
        Variant{"flat_odd", flat({"landmarks=4"}), {61, 43}}),
    [](const auto& variant) { return variant.param.name; });

}  // namespace
}  // namespace soft
