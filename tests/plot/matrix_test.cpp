#include "plot/matrix.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "plot/shapes_of.h"

namespace soft {
namespace {

MatrixChart diagonal(int64_t classes, int64_t count) {
  MatrixChart chart;
  chart.title = "pets: top-1 90 % of 30 images";
  chart.rows = "class";
  chart.columns = "answer";
  for (int64_t i = 0; i < classes; ++i) {
    chart.names.push_back("name " + std::to_string(i));
    chart.cells.push_back({i, i, count - 1});
    chart.cells.push_back({i, (i + 1) % classes, 1});
    chart.row_sums.push_back(count);
  }
  return chart;
}

bool has_label(const Drawing& drawing, const std::string& text) {
  const auto labels = shapes_of<Label>(drawing);
  return std::any_of(labels.begin(), labels.end(),
                     [&](const Label& label) { return label.text == text; });
}

TEST(Matrix, FewClassesShowTheirNamesAndCounts) {
  for (const int64_t classes : {3, 10}) {
    const Drawing drawing = draw(diagonal(classes, 1000));
    EXPECT_TRUE(has_label(drawing, "name 2")) << classes;
    EXPECT_TRUE(has_label(drawing, "999")) << classes;
    EXPECT_TRUE(has_label(drawing, "100 %")) << classes;
  }
}

TEST(Matrix, ManyClassesShowNumbersAlongTheEdgesAndNoneInTheCells) {
  const Drawing drawing = draw(diagonal(100, 1000));
  EXPECT_FALSE(has_label(drawing, "name 10"));
  EXPECT_FALSE(has_label(drawing, "999"));
  EXPECT_TRUE(has_label(drawing, "10"));
  EXPECT_LT(drawing.width, 900);
}

TEST(Matrix, ALargerShareOfTheRowIsDarkerAndNothingLiesOutside) {
  for (const int64_t classes : {1, 3, 10, 100, 1000}) {
    const Drawing drawing = draw(diagonal(classes, 10));
    const auto blocks = shapes_of<Block>(drawing);
    EXPECT_LT(blocks[1].colour.r, blocks[2].colour.r) << "9 of 10 beside 1 of 10";
    for (const Block& block : blocks) {
      EXPECT_GE(block.corner.x, 0);
      EXPECT_LE(block.corner.x + block.width, drawing.width);
      EXPECT_LE(block.corner.y + block.height, drawing.height);
    }
  }
}

}  // namespace
}  // namespace soft
