// Native and torch logits agree: every SOFT row of the table, the families that
// both have, and the paper's ablations. The large
// models run on small pictures here; scripts/check_parity runs them all at full size.
#include "parity/parity.h"

#include "support/support.h"

namespace soft {
namespace {

constexpr double kTolerance = 1e-4;  // of the largest logit

struct Ablation {
  std::string name;
  std::vector<std::string> settings;
};

void PrintTo(const Ablation& ablation, std::ostream* out) { *out << ablation.name; }

class EveryModel : public testing::TestWithParam<const char*> {};

TEST_P(EveryModel, AnswersAlikeInBothEngines) {
  test::Pair pair(find_model(GetParam()));
  EXPECT_LT(pair.error({64, 64}, 1), kTolerance);
  EXPECT_LT(pair.error({64, 64}, 5), kTolerance);
}

INSTANTIATE_TEST_SUITE_P(Table, EveryModel,
                         testing::Values("soft-tiny", "soft-small", "soft-medium", "soft-large",
                                         "soft-huge", "soft-mini-rows", "soft-tiny-rows",
                                         "soft-tiny-norm", "soft-small-norm", "soft-medium-norm",
                                         "soft-large-norm", "soft-huge-norm", "vit-small-384x12",
                                         "resnet-18", "resnet-50", "deit-small", "pvt-tiny"));

TEST(Parity, OfTheSmallModelsAtTheirOwnAndOtherSizes) {
  test::Pair tiny(find_model("soft-tiny"));
  EXPECT_LT(tiny.error({224, 224}, 1), kTolerance);
  EXPECT_LT(tiny.error({256, 320}, 1), kTolerance);
  test::Pair nano(find_model("soft-nano"));
  EXPECT_LT(nano.error({32, 32}, 5), kTolerance);
  EXPECT_LT(nano.error({40, 48}, 5), kTolerance);
}

TEST(Parity, TheSamePicturesGiveTheSameBits) {
  test::Pair tiny(find_model("soft-tiny"));
  EXPECT_TRUE(tiny.repeats({224, 224}, 1));
  EXPECT_TRUE(tiny.repeats({224, 224}, 5));
}

class EveryAblation : public testing::TestWithParam<Ablation> {};

TEST_P(EveryAblation, AnswersAlikeInBothEngines) {
  ModelSpec spec = find_model("soft-tiny");
  for (const std::string& setting : GetParam().settings) apply_setting(spec, setting);
  validate(spec);
  test::Pair pair(spec);
  EXPECT_LT(pair.error({96, 128}, 2), kTolerance);
}

INSTANTIATE_TEST_SUITE_P(Settings, EveryAblation,
                         testing::Values(Ablation{"average_pooling", {"sampler=avg"}},
                                         Ablation{"biased", {"sampler=biased"}},
                                         Ablation{"nine_landmarks", {"landmarks=9"}},
                                         Ablation{"nine_averages", {"landmarks=9", "sampler=avg"}},
                                         Ablation{"paper_stage4", {"stage4=soft"}},
                                         Ablation{"paper_stage4_pooled",
                                                  {"stage4=soft", "class_token=off"}},
                                         Ablation{"no_value_path", {"value_path=off"}},
                                         Ablation{"plain_patches", {"overlap=off"}},
                                         Ablation{"exact_inverse", {"inverse=exact"}},
                                         Ablation{"paper_inverse", {"inverse=newton-paper"}}),
                         [](const auto& ablation) { return ablation.param.name; });

}  // namespace
}  // namespace soft
