// RandAugment: a few operations drawn with replacement, each at its own random strength.
#include <algorithm>
#include <cmath>
#include <utility>

#include "data/augment.h"
#include "image/operation.h"

namespace soft {
namespace {

// The operation's own argument at a level from 0 to 10; the sign is random where both make sense.
double argument_at(Operation operation, double level, Grid picture, Random& random) {
  const auto either = [&random](double value) { return random.chance(0.5) ? -value : value; };
  switch (operation) {
    case Operation::kAutoContrast:
    case Operation::kEqualize:
    case Operation::kInvert:
      return 0;
    case Operation::kRotate:
      return either(3 * level);
    case Operation::kPosterize:
      return 4 - std::floor(0.4 * level);
    case Operation::kSolarize:
      return 256 - std::floor(25.6 * level);
    case Operation::kSolarizeAdd:
      return std::floor(11 * level);
    case Operation::kColor:
    case Operation::kContrast:
    case Operation::kBrightness:
    case Operation::kSharpness:
      return 1 + either(0.09 * level);
    case Operation::kShearX:
    case Operation::kShearY:
      return either(0.03 * level);
    case Operation::kTranslateX:
      return either(0.045 * level * static_cast<double>(picture.w));
    case Operation::kTranslateY:
      return either(0.045 * level * static_cast<double>(picture.h));
  }
  return 0;
}

}  // namespace

Image rand_augment(Image image, const Augmentation& augmentation, Random& random) {
  for (int i = 0; i < augmentation.operations; ++i) {
    const auto operation = static_cast<Operation>(random.below(kOperationCount));
    if (!random.chance(augmentation.operation_probability)) continue;
    const double drawn = augmentation.level + augmentation.level_spread * random.normal();
    const double level = std::clamp(drawn, 0.0, 10.0);
    const double argument = argument_at(operation, level, image.grid(), random);
    image = apply(image, operation, argument, random_filter(random));
  }
  return image;
}

}  // namespace soft
