// What other programs' files call the tensors of our models, and what they hold besides.
#pragma once

#include "weights/weights.h"

namespace soft {

// Renames tensors to the names that descriptions use, and leaves out what no model here reads:
// * tables that follow from the model's shape (Swin's indices and masks), and aliases (CoaT's)
// * torchvision's names of RegNet become timm's
// * an old ViT's patch embedding stored as a matrix becomes a convolution
Weights with_our_names(Weights weights);

}  // namespace soft
