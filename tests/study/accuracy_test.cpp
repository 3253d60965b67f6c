#include "study/accuracy.h"

#include <gmock/gmock.h>

#include "study/fit.h"
#include "support/support.h"

namespace soft {
namespace {

using testing::HasSubstr;

Accuracies read(const std::string& cells) {
  const test::TemporaryFolder folder;
  test::write_file(folder.path("cells.csv"), "cell,seed,images,top1,seconds\n" + cells);
  return read_accuracies(folder.path());
}

TEST(Accuracy, ThreeSeedsGiveTheirMeanAndSampleDeviation) {
  const Json columns = accuracy_columns(
      read("soft,1,400000,80,1\nsoft,2,400000,82,1\nsoft,3,400000,84,1\n"), "soft");
  EXPECT_DOUBLE_EQ(columns.at("top1"), 82);
  EXPECT_DOUBLE_EQ(columns.at("top1_spread"), 2);
  EXPECT_EQ(columns.at("seeds"), 3);
}

TEST(Accuracy, FewerThanThreeSeedsAreCountedAndNotAveraged) {
  const Accuracies two = read("softmax,1,400000,80,1\nsoftmax,2,400000,82,1\n");
  EXPECT_TRUE(accuracy_columns(two, "softmax").at("top1").is_null());
  EXPECT_EQ(accuracy_columns(two, "softmax").at("seeds"), 2);
  EXPECT_EQ(accuracy_columns(two, "linformer").at("seeds"), 0);
}

TEST(Accuracy, AWrongLineIsNamed) {
  for (const char* line : {"soft,1,400000,eighty,1\n", "soft,1,400000,101,1\n", "soft\n"}) {
    EXPECT_THAT(test::error_of([&] { read(line); }), HasSubstr("line 2"));
  }
  EXPECT_THAT(test::error_of([] { read_accuracies("no-such-folder"); }),
              HasSubstr("scripts/accuracy no-such-folder"));
}

TEST(Accuracy, SeedsOfDifferentLengthsHaveNoMean) {
  EXPECT_THAT(test::error_of([] { read("soft,1,400000,80,1\nsoft,2,100000,70,1\n"); }),
              AllOf(HasSubstr("line 3"), HasSubstr("soft after 100000 pictures")));
  EXPECT_EQ(read("soft,1,400000,80,1\nsoftmax,1,100000,70,1\n").size(), 2u);
}

TEST(Fit, FindsTheExponentOfAPower) {
  EXPECT_NEAR(exponent_of({{1, 3}, {2, 12}, {4, 48}}).value(), 2, 1e-12);
  EXPECT_NEAR(exponent_of({{784, 1}, {12'544, 16}}).value(), 1, 1e-12);
  EXPECT_EQ(with_exponent("soft", {{784, 1}, {12'544, 16}}), "soft (n^1.00)");
}

TEST(Fit, PointsThatShowNoGrowthHaveNoExponent) {
  const std::vector<std::vector<Point>> all{
      {}, {{5, 1}}, {{28, 1}, {28, 2}, {28, 4}}, {{1, 0}, {2, 4}}};
  for (const std::vector<Point>& points : all) {
    EXPECT_FALSE(exponent_of(points).has_value()) << points.size();
    EXPECT_EQ(with_exponent("soft", points), "soft");
  }
}

}  // namespace
}  // namespace soft
