#include "data/mix.h"

#include <cmath>

#include "data/toy.h"

namespace soft {
namespace {

using test::solid;

// Preprocessing that leaves pixel values readable: (p/255 - 0) / (1/255).
Preprocessing plain(int size) {
  Preprocessing preprocessing;
  preprocessing.size = size;
  preprocessing.mean = {0, 0, 0};
  preprocessing.std = {1 / 255.f, 1 / 255.f, 1 / 255.f};
  return preprocessing;
}

std::vector<float> mixed(const Image& a, const Image& b, const Mix& mix) {
  std::vector<float> planes(a.rgb.size());
  write_mixed(a, b, mix, normalise_table(plain(a.width)), planes.data());
  return planes;
}

Mix mixup(double lambda) {
  Mix mix;
  mix.lambda = lambda;
  return mix;
}

TEST(Mix, BlendsRoundToTheNearestLevelAndTiesToEven) {
  const Image a = solid(1, 1, 10, 25, 200);
  const Image b = solid(1, 1, 20, 0, 100);
  // 0.25 a + 0.75 b: 17.5 -> 18, 6.25 -> 6, 125
  EXPECT_THAT(mixed(a, b, mixup(0.25)), testing::Pointwise(testing::FloatEq(), {18.f, 6.f, 125.f}));
  // 0.5 a + 0.5 b: 15, 12.5 -> 12, 150
  EXPECT_THAT(mixed(a, b, mixup(0.5)), testing::Pointwise(testing::FloatEq(), {15.f, 12.f, 150.f}));
}

TEST(Mix, AWholeShareChangesNothingAndLongPicturesAreBlendedToTheirEnd) {
  const Image a = test::ramp(37, 29);
  const Image b = test::ramp(29, 37);
  std::vector<float> expected(a.rgb.size());
  normalise(a, plain(37), expected.data());
  EXPECT_EQ(mixed(a, b, Mix{}), expected);
  const std::vector<float> half = mixed(a, b, mixup(0.5));
  const size_t area = size_t{37} * 29;
  for (size_t i = 0; i < area; ++i) {
    for (size_t c = 0; c < 3; ++c) {
      const double value = std::nearbyint(0.5 * a.rgb[3 * i + c] + 0.5 * b.rgb[3 * i + c]);
      ASSERT_NEAR(half[c * area + i], value, 1e-3) << i;
    }
  }
}

TEST(Mix, TheBoxOfCutmixIsClippedAndTheShareRecomputed) {
  // Side floor(8 sqrt(0.25)) = 4, half 2, about (1, 6): columns 0-3, rows 4-8 of 8.
  const Mix mix = cutmix_at(0.75, 8, 1, 6);
  EXPECT_TRUE(mix.paste);
  EXPECT_EQ(mix.box.left, 0);
  EXPECT_EQ(mix.box.top, 4);
  EXPECT_EQ(mix.box.width, 3);
  EXPECT_EQ(mix.box.height, 4);
  EXPECT_DOUBLE_EQ(mix.lambda, 1 - 12.0 / 64);
}

TEST(Mix, AnOddSideOfTheBoxIsHalvedDownwards) {
  // Side floor(10 sqrt(0.5)) = 7, half 3: a box of 6.
  const Mix mix = cutmix_at(0.5, 10, 5, 5);
  EXPECT_EQ(mix.box.left, 2);
  EXPECT_EQ(mix.box.width, 6);
  EXPECT_DOUBLE_EQ(mix.lambda, 0.64);
  EXPECT_DOUBLE_EQ(cutmix_at(1, 10, 5, 5).lambda, 1);  // nothing is cut
}

TEST(Mix, CutmixPastesThePartnerIntoTheBoxOnly) {
  const std::vector<float> planes =
      mixed(solid(4, 4, 1, 2, 3), solid(4, 4, 101, 102, 103), cutmix_at(0.75, 4, 2, 1));
  for (int channel = 0; channel < 3; ++channel) {
    for (int y = 0; y < 4; ++y) {
      for (int x = 0; x < 4; ++x) {
        const bool inside = x >= 1 && x < 3 && y >= 0 && y < 2;
        const float value = planes[(channel * 4 + y) * 4 + x];
        EXPECT_FLOAT_EQ(value, (inside ? 101 : 1) + channel) << x << ", " << y;
      }
    }
  }
}

TEST(Mix, TheTableIsBitForBitTheSharedNormalisation) {
  const Preprocessing preprocessing;
  const NormaliseTable table = normalise_table(preprocessing);
  const Image image = test::ramp(16, 16);
  std::vector<float> planes(image.rgb.size());
  normalise(image, preprocessing, planes.data());
  for (size_t i = 0; i < 256; ++i) {
    for (size_t c = 0; c < 3; ++c) {
      EXPECT_EQ(table[c][image.rgb[3 * i + c]], planes[c * 256 + i]);
    }
  }
}

TEST(Targets, AreSmoothedThenMixed) {
  // K = 4, e = 0.1: on 0.925, off 0.025.
  std::vector<float> targets;
  soft_targets({0, 2, 3}, {3, 2, 0}, 4, 0.1, mixup(0.75), targets);
  const std::vector<float> expected{0.75f * 0.925f + 0.25f * 0.025f,
                                    0.025f,
                                    0.025f,
                                    0.75f * 0.025f + 0.25f * 0.925f,  //
                                    0.025f,
                                    0.025f,
                                    0.925f,
                                    0.025f,  // the middle one meets itself
                                    0.25f * 0.925f + 0.75f * 0.025f,
                                    0.025f,
                                    0.025f,
                                    0.75f * 0.925f + 0.25f * 0.025f};
  ASSERT_EQ(targets.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(targets[i], expected[i], 1e-6) << i;
}

TEST(Targets, WithoutSmoothingOrMixingAreOneHot) {
  std::vector<float> targets;
  soft_targets({1, 0}, {0, 1}, 3, 0, Mix{}, targets);
  EXPECT_THAT(targets, testing::ElementsAre(0, 1, 0, 1, 0, 0));
}

TEST(DrawMix, MixesAlwaysAndChoosesEvenlyBetweenBothKinds) {
  const Augmentation augmentation;
  int pasted = 0;
  double blended_share = 0;
  constexpr int kDraws = 20000;
  for (uint64_t i = 0; i < kDraws; ++i) {
    Random random(1, {i});
    const Mix mix = draw_mix(augmentation, 224, random);
    pasted += mix.paste ? 1 : 0;
    if (!mix.paste) blended_share += mix.lambda;
    ASSERT_GE(mix.lambda, 0);
    ASSERT_LE(mix.lambda, 1);
  }
  EXPECT_NEAR(pasted, 0.5 * kDraws, 300);
  EXPECT_NEAR(blended_share / (kDraws - pasted), 0.5, 0.01);  // Beta(0.8, 0.8)
}

TEST(DrawMix, SwitchesWorkOneByOne) {
  Random random(3);
  Augmentation augmentation;
  augmentation.mixup = 0;
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(draw_mix(augmentation, 32, random).paste);
  augmentation.mixup = 0.2;
  augmentation.cutmix = 0;
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(draw_mix(augmentation, 32, random).paste);
  augmentation.mixup = 0;
  EXPECT_EQ(draw_mix(augmentation, 32, random).lambda, 1);
  augmentation.mixup = 1;
  augmentation.mix_probability = 0;
  EXPECT_EQ(draw_mix(augmentation, 32, random).lambda, 1);
}

}  // namespace
}  // namespace soft
