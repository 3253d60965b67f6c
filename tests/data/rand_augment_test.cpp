#include <map>
#include <set>

#include "data/augment.h"
#include "data/toy.h"
#include "image/operation.h"

namespace soft {
namespace {

using test::ramp;

// Level 9 without spread: every argument the policy may choose, by operation.
std::vector<std::pair<Operation, double>> arguments_at_nine(int width, int height) {
  return {{Operation::kAutoContrast, 0},
          {Operation::kEqualize, 0},
          {Operation::kInvert, 0},
          {Operation::kRotate, 27},
          {Operation::kRotate, -27},
          {Operation::kPosterize, 1},     // 4 - floor(3.6)
          {Operation::kSolarize, 26},     // 256 - floor(230.4)
          {Operation::kSolarizeAdd, 99},  // floor(99)
          {Operation::kColor, 1.81},
          {Operation::kColor, 0.19},
          {Operation::kContrast, 1.81},
          {Operation::kContrast, 0.19},
          {Operation::kBrightness, 1.81},
          {Operation::kBrightness, 0.19},
          {Operation::kSharpness, 1.81},
          {Operation::kSharpness, 0.19},
          {Operation::kShearX, 0.27},
          {Operation::kShearX, -0.27},
          {Operation::kShearY, 0.27},
          {Operation::kShearY, -0.27},
          {Operation::kTranslateX, 0.405 * width},
          {Operation::kTranslateX, -0.405 * width},
          {Operation::kTranslateY, 0.405 * height},
          {Operation::kTranslateY, -0.405 * height}};
}

Augmentation one_operation() {
  Augmentation augmentation;
  augmentation.operations = 1;
  augmentation.operation_probability = 1;
  augmentation.level_spread = 0;
  return augmentation;
}

TEST(RandAugment, AppliesEachOperationAtItsArgumentWithEitherSignAndFilter) {
  const Image image = ramp(20, 14);
  std::map<std::vector<uint8_t>, Operation> expected;
  for (const auto& [operation, argument] : arguments_at_nine(20, 14)) {
    for (Filter filter : {Filter::kBilinear, Filter::kBicubic}) {
      expected.emplace(apply(image, operation, argument, filter).rgb, operation);
    }
  }
  std::map<Operation, int> drawn;
  std::set<std::vector<uint8_t>> seen;
  constexpr int kDraws = 6000;
  for (uint64_t i = 0; i < kDraws; ++i) {
    Random random(1, {i});
    const Image out = rand_augment(image, one_operation(), random);
    const auto found = expected.find(out.rgb);
    ASSERT_NE(found, expected.end());
    ++drawn[found->second];
    seen.insert(out.rgb);
  }
  EXPECT_EQ(seen.size(), expected.size());
  EXPECT_EQ(drawn.size(), static_cast<size_t>(kOperationCount));
  for (const auto& [operation, count] : drawn) {
    EXPECT_NEAR(count, 400, 90) << static_cast<int>(operation);
  }
}

TEST(RandAugment, EachOperationIsSkippedHalfOfTheTime) {
  Augmentation augmentation;  // two operations, probability 1/2
  const Image image = ramp(12, 12);
  int untouched = 0;
  for (uint64_t i = 0; i < 2000; ++i) {
    Random random(2, {i});
    if (rand_augment(image, augmentation, random).rgb == image.rgb) ++untouched;
  }
  EXPECT_NEAR(untouched, 500, 100);  // a quarter, and a few that change nothing
}

TEST(RandAugment, TheLevelVariesAndStaysWithinItsRange) {
  Augmentation augmentation = one_operation();
  augmentation.level = 10;
  augmentation.level_spread = 3;
  const Image image = test::solid(8, 8, 100, 100, 100);
  std::set<int> brightest;
  for (uint64_t i = 0; i < 3000; ++i) {
    Random random(3, {i});
    brightest.insert(rand_augment(image, augmentation, random).pixel(4, 4)[0]);
  }
  EXPECT_GT(brightest.size(), 30u);                   // brightness factors of all kinds
  EXPECT_LE(*std::prev(brightest.end()), 100 + 110);  // SolarizeAdd at level 10
}

TEST(RandAugment, CanBeSwitchedOff) {
  Augmentation augmentation;
  augmentation.operations = 0;
  Random random(1);
  EXPECT_EQ(rand_augment(ramp(5, 5), augmentation, random).rgb, ramp(5, 5).rgb);
}

}  // namespace
}  // namespace soft
