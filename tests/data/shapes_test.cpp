#include <map>
#include <set>

#include "data/source.h"
#include "data/toy.h"

namespace soft {
namespace {

double mean_difference(const Image& a, const Image& b) {
  double sum = 0;
  for (size_t i = 0; i < a.rgb.size(); ++i) sum += std::abs(a.rgb[i] - b.rgb[i]);
  return sum / static_cast<double>(a.rgb.size());
}

TEST(Shapes, ThePictureDependsOnSeedSplitAndIndexOnly) {
  const Dataset one = draw_shapes({32, 1}, Split::kTrain);
  const Dataset again = draw_shapes({32, 1}, Split::kTrain);
  EXPECT_EQ(one.labels, again.labels);
  EXPECT_EQ(one.load(7).rgb, again.load(7).rgb);
  EXPECT_NE(one.load(7).rgb, one.load(8).rgb);
  EXPECT_NE(one.load(7).rgb, draw_shapes({32, 2}, Split::kTrain).load(7).rgb);
  EXPECT_NE(one.load(7).rgb, draw_shapes({32, 1}, Split::kValidation).load(7).rgb);
}

TEST(Shapes, TheSamePictureIsDrawnAtAnySize) {
  const Dataset small = draw_shapes({16, 0}, Split::kTrain);
  const Dataset large = draw_shapes({64, 0}, Split::kTrain);
  EXPECT_EQ(small.labels, large.labels);
  const Image image = large.load(3);
  EXPECT_EQ(image.width, 64);
  EXPECT_EQ(image.height, 64);
  const Image shrunk = resize(image, 16, 16, Filter::kBilinear);
  EXPECT_LT(mean_difference(shrunk, small.load(3)), 16);
}

TEST(Shapes, ClassesAreBalancedAndWithinRange) {
  const Dataset dataset = draw_shapes({32, 0}, Split::kTrain);
  std::map<int, int64_t> counts;
  for (int label : dataset.labels) ++counts[label];
  ASSERT_EQ(static_cast<int64_t>(counts.size()), dataset.class_count());
  for (const auto& [label, count] : counts) {
    EXPECT_NEAR(static_cast<double>(count), static_cast<double>(dataset.size()) / 10, 200) << label;
  }
}

// A classifier that sees only the mean colour should be lost.
TEST(Shapes, MeanColourSaysLittleAboutTheClass) {
  const Dataset dataset = draw_shapes({16, 0}, Split::kTrain);
  std::map<int, std::pair<double, int>> sums;
  for (int64_t i = 0; i < 2000; ++i) {
    const Image image = dataset.load(i);
    double mean = 0;
    for (uint8_t value : image.rgb) mean += value;
    auto& [sum, count] = sums[dataset.labels[i]];
    sum += mean / static_cast<double>(image.rgb.size());
    ++count;
  }
  for (const auto& [label, total] : sums) {
    EXPECT_NEAR(total.first / total.second, 127.5, 12) << dataset.classes[label];
  }
}

}  // namespace
}  // namespace soft
