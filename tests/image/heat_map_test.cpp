// Heat-maps whose answer is known: where the light falls, which colour it has, what stays
// untouched.
#include "image/heat_map.h"

#include <algorithm>
#include <cmath>

#include "image/colour_map.h"
#include "support/support.h"

namespace soft {
namespace {

Image grey(int width, int height, uint8_t shade = 128) {
  Image image(width, height);
  std::fill(image.rgb.begin(), image.rgb.end(), shade);
  return image;
}

// Zero but for one patch.
Heat single(Grid grid, int64_t row, int64_t column, float value = 1) {
  Heat heat{grid, std::vector<float>(grid.size())};
  heat.values[row * grid.w + column] = value;
  return heat;
}

// CIE L*, what the eye takes for lightness.
double lightness(const Colour& colour) {
  const auto linear = [](uint8_t c) {
    const double x = c / 255.0;
    return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
  };
  const double y =
      0.2126 * linear(colour[0]) + 0.7152 * linear(colour[1]) + 0.0722 * linear(colour[2]);
  return 116 * std::cbrt(y) - 16;
}

TEST(HeatColour, GrowsLighterEvenlyOnBothSidesOfZero) {
  for (float sign : {1.0f, -1.0f}) {
    for (int i = 1; i <= 16; ++i) {
      const double step =
          lightness(heat_colour(sign * i / 16)) - lightness(heat_colour(sign * (i - 1) / 16));
      EXPECT_GT(step, 2.5) << sign * i;
      EXPECT_LT(step, 9) << sign * i;
    }
  }
}

TEST(HeatColour, IsWarmAboveZeroCoolBelowAndEndsBeyondOne) {
  for (float value : {0.5f, 0.75f, 1.0f}) {
    EXPECT_GT(heat_colour(value)[0], heat_colour(value)[2]) << value;
    EXPECT_LT(heat_colour(-value)[0], heat_colour(-value)[2]) << value;
  }
  EXPECT_EQ(heat_colour(7), heat_colour(1));
  EXPECT_EQ(heat_colour(-7), heat_colour(-1));
  EXPECT_EQ(heat_colour(0.0f), heat_colour(-0.0f));
}

TEST(Upsampled, KeepsTheValuesAtTheCentresOfThePatches) {
  const Heat heat{{2, 3}, {1, -2, 3, 5, 0, 4}};
  const auto values = upsampled(heat, 3 * 7, 2 * 5);  // odd patches: a pixel at each centre
  for (int y = 0; y < 2; ++y) {
    for (int x = 0; x < 3; ++x) {
      EXPECT_NEAR(values[(5 * y + 2) * 21 + 7 * x + 3], heat.values[3 * y + x], 1e-6);
    }
  }
}

TEST(Upsampled, InventsNoExtremeAndNoSign) {
  const auto values = upsampled(single({4, 4}, 1, 2), 61, 47);
  EXPECT_EQ(*std::min_element(values.begin(), values.end()), 0);
  EXPECT_LE(*std::max_element(values.begin(), values.end()), 1);
}

TEST(Upsampled, KeepsAConstantAndARamp) {
  for (float value : upsampled({{3, 5}, std::vector<float>(15, 2.5f)}, 20, 31)) {
    EXPECT_FLOAT_EQ(value, 2.5f);
  }
  const auto ramp = upsampled({{1, 4}, {0, 1, 2, 3}}, 40, 1);
  for (int x = 16; x < 24; ++x) EXPECT_NEAR(ramp[x], (x + 0.5) / 10 - 0.5, 1e-5) << x;
}

TEST(Upsampled, RefusesValuesThatAreNoGrid) {
  EXPECT_THAT(test::error_of([] {
                upsampled({{2, 2}, {1, 2, 3}}, 8, 8);
              }),
              testing::HasSubstr("3 values are not a grid of 2x2"));
}

TEST(HeatMap, LightsThePatchAndLeavesTheOthersDarkInPicturesOfAnyShape) {
  for (const Grid size : {Grid{60, 200}, Grid{200, 60}, Grid{37, 53}}) {
    const auto height = static_cast<int>(size.h), width = static_cast<int>(size.w);
    const Image map = heat_map(grey(width, height), single({3, 5}, 2, 1));
    const auto red = [&](double x, double y) {
      return map.pixel(static_cast<int>(x * width), static_cast<int>(y * height))[0];
    };
    EXPECT_GT(red(1.5 / 5, 2.5 / 3), 180);  // the patch's own centre
    for (int row = 0; row < 3; ++row) {
      for (int column = 0; column < 5; ++column) {
        if (row == 2 && column == 1) continue;
        EXPECT_LT(red((column + 0.5) / 5, (row + 0.5) / 3), 80) << row << "," << column;
      }
    }
  }
}

TEST(HeatMap, MeasuresBothSignsByTheSameScale) {
  const Image map = heat_map(grey(30, 10), {{1, 3}, {-1, 0, 0.5f}});
  const uint8_t *low = map.pixel(5, 5), *zero = map.pixel(15, 5), *high = map.pixel(25, 5);
  EXPECT_GT(low[2], low[0] + 20);    // cool
  EXPECT_GT(high[0], high[2] + 20);  // warm
  EXPECT_LT(lightness({zero[0], zero[1], zero[2]}), lightness({high[0], high[1], high[2]}));
  EXPECT_LT(lightness({high[0], high[1], high[2]}), lightness({low[0], low[1], low[2]}));
}

TEST(HeatMap, ShowsThePictureUnderneath) {
  Image picture = grey(20, 20, 0);
  std::fill_n(picture.pixel(0, 10), 3 * 20 * 10, 255);
  const Image map = heat_map(picture, {{1, 1}, {0}});
  EXPECT_GT(map.pixel(3, 15)[0], map.pixel(3, 5)[0] + 80);
  EXPECT_EQ(heat_map(grey(1, 1), {{1, 1}, {3}}).rgb.size(), 3u);
}

TEST(Cross, MarksItsPixelOnAnyGroundAndIsCutAtTheEdges) {
  for (uint8_t ground : {0, 128, 255}) {
    for (const Pixel at : {Pixel{40, 30}, Pixel{0, 0}, Pixel{79, 59}, Pixel{79, 0}}) {
      Image image = grey(80, 60, ground);
      draw_cross(image, at);
      EXPECT_EQ(image.pixel(at.x, at.y)[0], 255);
      const int aside = at.x > 40 ? at.x - 1 : at.x + 1, below = at.y > 30 ? at.y - 1 : at.y + 1;
      EXPECT_EQ(image.pixel(aside, at.y)[0], 255);
      EXPECT_EQ(image.pixel(aside, below)[0], 0);  // its edge
    }
  }
  Image dot = grey(1, 1);
  draw_cross(dot, {0, 0});
  EXPECT_EQ(dot.rgb[0], 255);
}

TEST(Cross, IsSymmetricAroundThePixel) {
  Image image = grey(81, 61);
  draw_cross(image, {40, 30});
  for (int y = 0; y < 61; ++y) {
    for (int x = 0; x < 81; ++x) {
      ASSERT_EQ(image.pixel(x, y)[0], image.pixel(80 - x, 60 - y)[0]);
    }
  }
}

}  // namespace
}  // namespace soft
