// The fifteen picture operations of RandAugment, each equal to Pillow's of the same name.
#pragma once

#include "image/image.h"
#include "image/transform.h"

namespace soft {

enum class Operation {  // what the argument means:
  kAutoContrast,        // ignored
  kEqualize,            // ignored
  kInvert,              // ignored
  kRotate,              // degrees, counter-clockwise
  kPosterize,           // bits kept, 0 to 8
  kSolarize,            // values from this threshold on are inverted
  kSolarizeAdd,         // added to values below 128, at most 255
  kColor,               // factor: 0 is grey, 1 the picture itself
  kContrast,            // factor: 0 is the mean grey
  kBrightness,          // factor: 0 is black
  kSharpness,           // factor: 0 is smoothed
  kShearX,              // source columns per row: x + argument * y
  kShearY,              // source rows per column: y + argument * x
  kTranslateX,          // the picture moves this many pixels to the left
  kTranslateY,          // the picture moves this many pixels up
};
constexpr int kOperationCount = 15;

// The size stays. `filter` matters to the operations that move pixels (rotate, shear, translate),
// which interpolate without antialias and fill what they uncover with the mean colour.
Image apply(const Image& image, Operation operation, double argument,
            Filter filter = Filter::kBilinear);

}  // namespace soft
