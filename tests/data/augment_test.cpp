#include "data/augment.h"

#include <cmath>
#include <set>

#include "data/toy.h"

namespace soft {
namespace {

using test::ramp;

Augmentation nothing() {
  Augmentation off;
  off.crop = Crop::kNone;
  off.flip = 0;
  off.operations = 0;
  off.mixup = off.cutmix = off.erasing = off.smoothing = 0;
  return off;
}

Dataset native(int size) {
  Dataset dataset;
  dataset.native_size = size;
  return dataset;
}

TEST(RandomResizedWindow, StaysInsideWithAreaAndShapeInRange) {
  const Augmentation augmentation;
  const Grid picture{300, 400};
  double left = 0;
  double log_ratio = 0;
  double smallest = 1;
  double largest = 0;
  constexpr int kDraws = 20000;
  for (uint64_t i = 0; i < kDraws; ++i) {
    Random random(5, {i});
    const Window w = random_resized_window(picture, augmentation, random);
    ASSERT_GE(w.left, 0);
    ASSERT_GE(w.top, 0);
    ASSERT_LE(w.left + w.width, picture.w);
    ASSERT_LE(w.top + w.height, picture.h);
    const double area = double(w.width) * w.height / double(picture.size());
    smallest = std::min(smallest, area);
    largest = std::max(largest, area);
    log_ratio += std::log(double(w.width) / w.height) / kDraws;
    left += (w.left + 0.5 * w.width) / double(picture.w) / kDraws;
  }
  EXPECT_NEAR(smallest, 0.08, 0.005);
  EXPECT_NEAR(largest, 1, 0.02);
  EXPECT_NEAR(left, 0.5, 0.01);
  EXPECT_NEAR(log_ratio, 0, 0.06);  // wide windows fit a wide picture a little more often
}

// With a huge picture nothing is rejected, so area and log-ratio are uniform as drawn.
TEST(RandomResizedWindow, AreaIsUniformAndShapeLogUniform) {
  Augmentation augmentation;
  augmentation.max_scale = 0.5;
  const Grid picture{10000, 10000};
  std::vector<int> areas(4);
  std::vector<int> shapes(4);
  constexpr int kDraws = 20000;
  for (uint64_t i = 0; i < kDraws; ++i) {
    Random random(6, {i});
    const Window w = random_resized_window(picture, augmentation, random);
    const double area = double(w.width) * w.height / double(picture.size());
    const double log_ratio = std::log(double(w.width) / w.height) / std::log(4.0 / 3);
    ++areas[std::clamp(static_cast<int>((area - 0.08) / 0.42 * 4), 0, 3)];
    ++shapes[std::clamp(static_cast<int>((log_ratio + 1) / 2 * 4), 0, 3)];
  }
  for (int count : areas) EXPECT_NEAR(count, 0.25 * kDraws, 250);
  for (int count : shapes) EXPECT_NEAR(count, 0.25 * kDraws, 250);
}

TEST(RandomResizedWindow, ExtremeShapesFallBackToTheirCentre) {
  Random random(1);
  const Window wide = random_resized_window({1, 451}, Augmentation{}, random);
  EXPECT_EQ(wide.left, 225);
  EXPECT_EQ(wide.width, 1);
  EXPECT_EQ(wide.height, 1);
  const Window tall = random_resized_window({900, 3}, Augmentation{}, random);
  EXPECT_EQ(tall.width, 3);
  EXPECT_EQ(tall.height, 4);  // 3 / (3/4)
  EXPECT_EQ(tall.top, 448);
}

TEST(Cut, IsBlackBeyondThePicture) {
  const Image image = ramp(4, 3);
  const Image out = cut(image, {-1, 1, 4, 3});
  for (int y = 0; y < 3; ++y) {
    for (int x = 0; x < 4; ++x) {
      const bool inside = x >= 1 && y < 2;
      EXPECT_EQ(out.pixel(x, y)[1], inside ? image.pixel(x - 1, y + 1)[1] : 0) << x << ", " << y;
    }
  }
  EXPECT_EQ(cut(image, {10, 0, 2, 2}).rgb, Image(2, 2).rgb);
}

TEST(Augment, WithEverythingOffIsTheEvaluationPicture) {
  Random random(1);
  const Dataset dataset = native(8);
  const Preprocessing preprocessing = preprocessing_of(dataset, 8);
  EXPECT_EQ(augment(ramp(8, 8), dataset, preprocessing, nothing(), random).rgb, ramp(8, 8).rgb);
}

TEST(Augment, PadCropReachesEveryShiftEquallyOften) {
  Augmentation augmentation = nothing();
  augmentation.crop = Crop::kPad;
  augmentation.pad = 1;
  const Dataset dataset = native(8);
  std::map<std::vector<uint8_t>, int> seen;
  for (uint64_t i = 0; i < 9000; ++i) {
    Random random(2, {i});
    ++seen[augment(ramp(8, 8), dataset, preprocessing_of(dataset, 8), augmentation, random).rgb];
  }
  EXPECT_EQ(seen.size(), 9u);
  for (int top : {-1, 0, 1}) {
    for (int left : {-1, 0, 1}) {
      EXPECT_NEAR(seen[cut(ramp(8, 8), {left, top, 8, 8}).rgb], 1000, 120);
    }
  }
}

TEST(Augment, FlipsHalfOfThePicturesUnlessTheSetForbidsIt) {
  Augmentation augmentation = nothing();
  augmentation.flip = 0.5;
  Dataset dataset = native(8);
  const auto flips = [&] {
    int count = 0;
    for (uint64_t i = 0; i < 1000; ++i) {
      Random random(3, {i});
      const Image out =
          augment(ramp(8, 8), dataset, preprocessing_of(dataset, 8), augmentation, random);
      if (out.rgb == flip_horizontal(ramp(8, 8)).rgb) ++count;
    }
    return count;
  };
  EXPECT_NEAR(flips(), 500, 60);
  dataset.mirrors = false;
  EXPECT_EQ(flips(), 0);
}

TEST(Augment, TheFullRecipeGivesTheAskedSizeAndIsRepeatable) {
  const Dataset photos;
  const Preprocessing preprocessing = preprocessing_of(photos, 24);
  for (uint64_t i = 0; i < 50; ++i) {
    Random first(4, {i});
    Random second(4, {i});
    const Image a = augment(ramp(61, 47), photos, preprocessing, Augmentation{}, first);
    const Image b = augment(ramp(61, 47), photos, preprocessing, Augmentation{}, second);
    ASSERT_EQ(a.width, 24);
    ASSERT_EQ(a.height, 24);
    ASSERT_EQ(a.rgb, b.rgb);
  }
}

TEST(Erase, FillsOneWindowWithNormalNoiseInAQuarterOfThePictures) {
  constexpr int kSize = 32;
  const Augmentation augmentation;
  int erased = 0;
  double sum = 0;
  double squares = 0;
  int64_t values = 0;
  for (uint64_t i = 0; i < 4000; ++i) {
    Random random(7, {i});
    std::vector<float> planes(size_t{3} * kSize * kSize, 100.f);
    maybe_erase(planes.data(), kSize, augmentation, random);
    const auto changed =
        std::count_if(planes.begin(), planes.end(), [](float v) { return v < 50; });
    if (changed == 0) continue;
    ++erased;
    const double area = static_cast<double>(changed) / 3 / (kSize * kSize);
    ASSERT_GT(area, 0.01);
    ASSERT_LT(area, 0.37);
    ASSERT_EQ(changed % 3, 0);
    for (float value : planes) {
      if (value >= 50) continue;
      sum += value;
      squares += double(value) * value;
      ++values;
    }
  }
  EXPECT_NEAR(erased, 1000, 90);
  EXPECT_NEAR(sum / double(values), 0, 0.01);
  EXPECT_NEAR(squares / double(values), 1, 0.01);
}

TEST(Validate, FieldsOutOfRangeAreRefused) {
  Augmentation augmentation;
  EXPECT_NO_THROW(validate(augmentation));
  augmentation.flip = 1.5;
  EXPECT_THAT(test::error_of([&] { validate(augmentation); }),
              testing::HasSubstr("flip is 1.5; it must lie between 0 and 1"));
  augmentation.flip = std::nan("");
  EXPECT_THAT(test::error_of([&] { validate(augmentation); }), testing::HasSubstr("flip is nan"));
}

}  // namespace
}  // namespace soft
