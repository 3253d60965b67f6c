// A permutation as LibTorch draws it, without LibTorch: models whose landmarks are drawn at random
// must pick the same ones in every engine.
#pragma once

#include <cstdint>
#include <vector>

namespace soft {

constexpr uint32_t kEvaluationDraw = 20211022;  // the seed of what evaluation draws

// torch.randperm(count) with a CPU generator of this seed: Fisher and Yates on a Mersenne twister.
std::vector<int64_t> permutation(int64_t count, uint32_t seed);

}  // namespace soft
