// What a model is given: numbers as they stand, or pictures that go through the one preprocessing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/npy.h"
#include "image/transform.h"
#include "weights/weights.h"

namespace soft {

// What the card says about preparing a picture, for an input of size x size; 0: the model's own.
Preprocessing preprocessing_of(const Card& card, int size = 0);

// A picture as the model reads it, [3, size, size].
std::vector<float> prepared(const Image& upright, const Preprocessing& preprocessing);

// Numbers that are prepared already: an Error, which calls them `name`, unless they are N x 3 x H x
// W, finite, and no further from a normalised picture than float32 bears inside a model.
void check_shape(const std::vector<int64_t>& shape, const std::string& name);
void check_values(const float* values, int64_t count, const std::string& name);

// [N, 3, H, W] from an .npy file, or [1, 3, size, size] from a picture; told apart by content.
Array read_input(const std::string& path, const Card& card);

}  // namespace soft
