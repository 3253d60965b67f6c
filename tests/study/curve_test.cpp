#include "study/curve.h"

#include <gmock/gmock.h>

namespace soft {
namespace {

constexpr const char* kLog =
    "epoch,train_loss,val_loss,top1,top5,lr,images_per_second,seconds\n"
    "1,2.0,1.8,40,80,1e-3,100,5\n2,1.5,1.2,60,90,1e-3,100,5\n";

size_t dots_in(const Drawing& drawing) {
  size_t dots = 0;
  for (const Shape& shape : drawing.shapes) dots += std::holds_alternative<Dot>(shape) ? 1 : 0;
  return dots;
}

TEST(Curve, ShowsEveryEpochOfFourColumns) {
  const Drawing none = curve_of("epoch,train_loss\n"), two = curve_of(kLog);
  EXPECT_EQ(dots_in(two) - dots_in(none), 2U * 4U * 2U) << "a dot and its white rim";
  EXPECT_THAT(to_svg(two), testing::HasSubstr(">validation</text>"));
}

TEST(Curve, StandsInTwoPartsThatDoNotOverlap) {
  const Drawing curve = curve_of(kLog);
  double lowest = 0;
  for (const Shape& shape : curve.shapes) {
    if (const auto* label = std::get_if<Label>(&shape)) lowest = std::max(lowest, label->base.y);
  }
  EXPECT_GT(lowest, curve.height / 2);
  EXPECT_LT(lowest, curve.height);
}

}  // namespace
}  // namespace soft
