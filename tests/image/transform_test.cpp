#include "image/transform.h"

#include <algorithm>
#include <cmath>

#include "image/picture.h"

namespace soft {
namespace {

using testing::HasSubstr;

TEST(Resize, EqualsPillowForOddSizesAndFractionalBoxes) {
  test::for_each_row("resize.txt", [](std::istream& row) {
    std::string source, filter, hash;
    int width = 0, height = 0;
    Box box;
    row >> source >> width >> height >> filter >> box.left >> box.top >> box.right >> box.bottom >>
        hash;
    const Image out = resize(test::source(source), width, height, test::filter_named(filter), box);
    EXPECT_EQ(out.grid(), (Grid{height, width}));
    EXPECT_EQ(test::hash_of(out), hash);
  });
}

TEST(Resize, ToTheSameSizeChangesNothing) {
  const Image image = test::noise(37, 23);
  for (const Filter filter : {Filter::kBilinear, Filter::kBicubic}) {
    EXPECT_EQ(resize(image, 37, 23, filter).rgb, image.rgb);
  }
}

TEST(Resize, KeepsAConstantPictureConstant) {
  Image image(53, 31);
  std::fill(image.rgb.begin(), image.rgb.end(), uint8_t{255});
  for (const auto& [width, height] : {std::pair{7, 300}, {211, 3}, {1, 1}}) {
    const Image out = resize(image, width, height, Filter::kBicubic);
    EXPECT_EQ(*std::min_element(out.rgb.begin(), out.rgb.end()), 255);
  }
}

TEST(Resize, RefusesAnEmptySizeAndABoxOutsideThePicture) {
  const Image image = test::noise(10, 10);
  const auto boxed = [&](const Box& box) {
    return test::error_of([&] { resize(image, 5, 5, Filter::kBilinear, box); });
  };
  EXPECT_THAT(test::error_of([&] { resize(image, 0, 5, Filter::kBilinear); }), HasSubstr("0x5"));
  EXPECT_THAT(boxed({0, 0, 11, 10}), HasSubstr("leaves the picture of 10x10"));
  EXPECT_THAT(boxed({-0.5, 0, 10, 10}), HasSubstr("(-0.5, 0, 10, 10)"));
  EXPECT_THAT(boxed({3, 3, 3, 5}), HasSubstr("empty"));
  EXPECT_THAT(boxed({NAN, 0, 10, 10}), HasSubstr("nan"));
}

TEST(EvaluationCrop, EqualsPillowsResizeAndCrop) {
  test::for_each_row("evaluation.txt", [](std::istream& row) {
    std::string source, hash;
    Preprocessing preprocessing;
    row >> source >> preprocessing.short_side >> preprocessing.size >> hash;
    const Image out = evaluation_crop(test::source(source), preprocessing);
    EXPECT_EQ(out.grid(), (Grid{preprocessing.size, preprocessing.size}));
    EXPECT_EQ(test::hash_of(out), hash);
  });
}

// Resized as a whole this would be 248 x 4.96e9 pixels.
TEST(EvaluationCrop, OfAnEndlessStripComputesTheMiddleOnly) {
  Image strip(20'000'000, 1);
  const int middle = strip.width / 2;
  for (int x = middle - 4; x < middle + 4; ++x) std::fill_n(strip.pixel(x, 0), 3, uint8_t{200});
  const Image out = evaluation_crop(strip, {});
  EXPECT_EQ(out.grid(), (Grid{224, 224}));
  EXPECT_EQ(*std::min_element(out.rgb.begin(), out.rgb.end()), 200);
}

TEST(EvaluationCrop, RefusesToCutMoreThanTheShortSide) {
  Preprocessing preprocessing;
  preprocessing.short_side = 200;
  EXPECT_THAT(test::error_of([&] { evaluation_crop(test::noise(9, 9), preprocessing); }),
              HasSubstr("224x224 pixels out of a short side of 200"));
}

TEST(Crop, CutsTheRectangleOut) {
  const Image image = test::noise(13, 11);
  const Image out = crop(image, 4, 3, 5, 6);
  ASSERT_EQ(out.grid(), (Grid{6, 5}));
  for (int y = 0; y < 6; ++y) {
    for (int x = 0; x < 5; ++x) {
      EXPECT_TRUE(std::equal(out.pixel(x, y), out.pixel(x, y) + 3, image.pixel(4 + x, 3 + y)));
    }
  }
}

TEST(Crop, RefusesToLeaveThePicture) {
  const Image image = test::noise(13, 11);
  EXPECT_EQ(crop(image, 0, 0, 13, 11).rgb, image.rgb);
  for (const auto& [left, top, width, height] :
       {std::array{9, 0, 5, 5}, {0, 7, 5, 5}, {-1, 0, 5, 5}, {0, -1, 5, 5}, {0, 0, 0, 5}}) {
    EXPECT_THAT(
        test::error_of([&, l = left, t = top, w = width, h = height] { crop(image, l, t, w, h); }),
        HasSubstr("out of 13x11"));
  }
}

TEST(FlipHorizontal, MirrorsEveryRow) {
  const Image image = test::noise(5, 3);
  const Image out = flip_horizontal(image);
  for (int y = 0; y < 3; ++y) {
    for (int x = 0; x < 5; ++x) {
      EXPECT_TRUE(std::equal(out.pixel(x, y), out.pixel(x, y) + 3, image.pixel(4 - x, y)));
    }
  }
  EXPECT_EQ(flip_horizontal(out).rgb, image.rgb);
}

TEST(Normalise, GivesPlanesOfStandardisedValues) {
  const Image image = test::noise(7, 5);
  const Preprocessing preprocessing;
  std::vector<float> out(image.rgb.size());
  normalise(image, preprocessing, out.data());
  for (int channel = 0; channel < 3; ++channel) {
    for (int i = 0; i < 5 * 7; ++i) {
      const double value = image.rgb[3 * i + channel] / 255.0;
      const double expected = (value - preprocessing.mean[channel]) / preprocessing.std[channel];
      EXPECT_NEAR(out[channel * 5 * 7 + i], expected, 1e-6);
    }
  }
}

}  // namespace
}  // namespace soft
