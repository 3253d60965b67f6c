// Names of a crowd of points: none covers another, a point, or the line.
#include "plot/label_places.h"

#include <gtest/gtest.h>

namespace soft {
namespace {

constexpr LabelArea kArea{60, 40, 640, 340};

// As crowded as the paper's Figure 1a: points on a row, close together, and some on one another.
NamesOfPoints crowd() {
  NamesOfPoints named;
  named.size = 10.5;
  for (int i = 0; i < 24; ++i) {
    named.points.push_back({150.0 + 12 * i, 150.0 + 9 * (i % 5)});
    named.names.push_back("some-network-" + std::to_string(i));
    if (i % 5 == 0) named.line.push_back(named.points.back());
  }
  return named;
}

TEST(LabelPlaces, NamesInACrowdCoverNothing) {
  const NamesOfPoints named = crowd();
  const std::vector<LabelArea> boxes = label_places(named, kArea);
  ASSERT_EQ(boxes.size(), named.points.size());
  for (size_t i = 0; i < boxes.size(); ++i) {
    for (size_t j = 0; j < i; ++j) EXPECT_EQ(overlap(boxes[i], boxes[j]), 0) << i << " " << j;
    for (const Point& point : named.points) {
      EXPECT_EQ(overlap(boxes[i], {point.x - 3, point.y - 3, point.x + 3, point.y + 3}), 0) << i;
    }
    EXPECT_GE(boxes[i].left, kArea.left);
    EXPECT_LE(boxes[i].right, kArea.right);
  }
}

TEST(LabelPlaces, ALonePointHasItsNameAtItsRightWithoutALine) {
  NamesOfPoints named;
  named.points = {{300, 200}};
  named.names = {"alone"};
  const LabelArea box = label_places(named, kArea).front();
  EXPECT_GT(box.left, 300);
  EXPECT_LT(box.top, 200);
  EXPECT_GT(box.bottom, 200);
  EXPECT_TRUE(leader({300, 200}, box).empty());
  EXPECT_FALSE(leader({300, 260}, box).empty());
}

}  // namespace
}  // namespace soft
