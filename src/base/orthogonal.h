// Gaussian vectors that stand at right angles to each other: the random features of Performer
// (Choromanski et al., 2021). In blocks of `dim` rows the directions are orthonormal and uniform on
// the sphere (the Q of a Gaussian matrix); every row has the length of an independent Gaussian
// vector.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"

namespace soft {

std::vector<float> orthogonal_gaussians(int64_t rows, int64_t dim, Random random);  // [rows, dim]

}  // namespace soft
