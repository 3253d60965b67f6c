#include "plot/chart.h"

#include <gmock/gmock.h>

#include <cmath>

#include "plot/shapes_of.h"

namespace soft {
namespace {

using testing::HasSubstr;

LineChart two_lines() {
  LineChart chart;
  chart.title = "Time & memory <n>";
  chart.x = {"tokens", true, {}, {}};
  chart.y = {"ms", true, {}, {}};
  chart.series = {{"soft", {{784, 1}, {3136, 4}, {12'544, 16}}, false},
                  {"softmax", {{784, 1}, {3136, 16}, {12'544, NAN}}, true}};
  return chart;
}

size_t count_of(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

Colour pixel(const Pixels& pixels, double x, double y) {
  const size_t at =
      3 * (static_cast<size_t>(y) * static_cast<size_t>(pixels.width) + static_cast<size_t>(x));
  return {pixels.rgb[at], pixels.rgb[at + 1], pixels.rgb[at + 2]};
}

TEST(Chart, TextIsEscapedAndEverySeriesIsNamedInTheSvg) {
  const std::string svg = to_svg(draw(two_lines()));
  EXPECT_THAT(svg, HasSubstr("<title>Time &amp; memory &lt;n&gt;</title>"));
  EXPECT_THAT(svg, HasSubstr(">soft</text>"));
  EXPECT_THAT(svg, HasSubstr(">softmax</text>"));
  EXPECT_EQ(count_of(svg, "<svg"), count_of(svg, "</svg>"));
}

TEST(Chart, AProportionalSeriesIsAStraightLineOnLogAxes) {
  for (const Stroke& stroke : shapes_of<Stroke>(draw(two_lines()))) {
    if (stroke.points.size() != 3) continue;
    const auto& p = stroke.points;
    EXPECT_NEAR(p[1].y - p[0].y, p[2].y - p[1].y, 1e-6);
    EXPECT_LT(p[1].y, p[0].y) << "larger values stand higher";
    return;
  }
  FAIL() << "no line with three points";
}

TEST(Chart, PointsWithoutAValueAreLeftOut) {
  bool found = false;
  for (const Stroke& stroke : shapes_of<Stroke>(draw(two_lines()))) {
    if (stroke.dashed && stroke.points.size() == 2) found = true;
    for (const Point& point : stroke.points) EXPECT_TRUE(std::isfinite(point.y));
  }
  EXPECT_TRUE(found);
}

TEST(Chart, BarsStandOnZeroAndGrowWithTheirValues) {
  BarChart chart{"bars", {"per cent", false, {}, {}}, {"a", "b"}, {{"first", {1, 3}}}};
  const auto bars = shapes_of<Block>(draw(chart));
  ASSERT_EQ(bars.size(), 3U) << "two bars and the legend's mark";
  EXPECT_NEAR(bars[1].height, 3 * bars[0].height, 1e-6);
  EXPECT_NEAR(bars[0].corner.y + bars[0].height, bars[1].corner.y + bars[1].height, 1e-6);
}

TEST(Chart, AChartOfNothingIsStillAChart) {
  EXPECT_THAT(to_svg(draw(LineChart{})), HasSubstr("</svg>"));
  EXPECT_EQ(to_pixels(draw(LineChart{}), 1).rgb.size(), 760U * 440U * 3U);
}

TEST(Pixels, ALineCoversItsWidthAndNothingElse) {
  const Drawing drawing{20, 20, "", {Stroke{{{2, 10}, {18, 10}}, {255, 0, 0}, 4, false}}};
  const Pixels pixels = to_pixels(drawing, 1);
  EXPECT_EQ(pixel(pixels, 10, 9).g, 0);
  EXPECT_EQ(pixel(pixels, 10, 10).r, 255);
  EXPECT_EQ(pixel(pixels, 10, 14).g, 255);
  EXPECT_EQ(pixel(pixels, 10, 5).g, 255);
}

TEST(Pixels, ADashedLineHasGaps) {
  const Drawing drawing{60, 9, "", {Stroke{{{0, 4.5}, {60, 4.5}}, {0, 0, 0}, 3, true}}};
  const Pixels pixels = to_pixels(drawing, 1);
  EXPECT_LT(pixel(pixels, 4, 4).r, 10);
  EXPECT_GT(pixel(pixels, 9.5, 4).r, 200);
  EXPECT_LT(pixel(pixels, 16, 4).r, 10);
}

TEST(Pixels, WordsLeaveInkWhereTheyAreAnchored) {
  const auto ink = [](const Pixels& pixels, int from, int to) {
    double sum = 0;
    for (int y = 0; y < pixels.height; ++y) {
      for (int x = from; x < to; ++x) sum += 255 - pixel(pixels, x, y).r;
    }
    return sum;
  };
  const Drawing drawing{
      100, 30, "", {Label{{90, 22}, "soft \xC3\xA4", 12, Anchor::kEnd, false, {}}}};
  const Pixels pixels = to_pixels(drawing, 1);
  EXPECT_GT(ink(pixels, 50, 90), 1000);
  EXPECT_EQ(ink(pixels, 0, 40), 0);
  EXPECT_EQ(ink(pixels, 92, 100), 0);
}

TEST(Pixels, ShapesOutsideOfTheDrawingAreCutOff) {
  const Drawing drawing{8,
                        8,
                        "",
                        {Dot{{-3, 4}, 2, {}}, Block{{6, 6}, 50, 50, {0, 0, 255}},
                         Stroke{{{-20, 2}, {40, 2}}, {}, 1, false}}};
  EXPECT_EQ(pixel(to_pixels(drawing, 3), 23, 23).b, 255);
}

}  // namespace
}  // namespace soft
