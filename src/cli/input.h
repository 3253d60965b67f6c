// What a model is given: a tensor as it stands, or a picture that goes through the one
// preprocessing.
#pragma once

#include <string>

#include "base/npy.h"
#include "image/transform.h"
#include "weights/weights.h"

namespace soft {

// [N, 3, H, W] from an .npy file, or [1, 3, size, size] from a picture; told apart by content.
Array read_input(const std::string& path, const Card& card);

// What the card says about preparing a picture, for an input of size x size; 0: the model's own.
Preprocessing preprocessing_of(const Card& card, int size = 0);

}  // namespace soft
