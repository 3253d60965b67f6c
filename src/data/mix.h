// Mixup and cutmix. One draw holds for a whole batch; picture j is mixed with its mirror image in
// the batch, picture N-1-j, on 8-bit values with rounding, and so are the targets. A batch that
// several ranks share is one batch here.
#pragma once

#include <array>
#include <vector>

#include "base/random.h"
#include "data/augment.h"
#include "image/image.h"
#include "image/transform.h"

namespace soft {

struct Mix {
  double lambda = 1;   // share of the first picture; 1: nothing is mixed
  bool paste = false;  // cutmix: `box` comes from the partner
  Window box;
};

Mix draw_mix(const Augmentation& augmentation, int size, Random& random);

// The box of cutmix for a share and a centre, clipped to the picture; lambda is what is left.
Mix cutmix_at(double lambda, int size, int centre_x, int centre_y);

// (pixel/255 - mean) / std for each of the 256 values: bit for bit what normalise() computes.
using NormaliseTable = std::array<std::array<float, 256>, 3>;
NormaliseTable normalise_table(const Preprocessing& preprocessing);

// Mixes, rounds and normalises in one pass, into planes [3, H, W].
void write_mixed(const Image& image, const Image& partner, const Mix& mix,
                 const NormaliseTable& table, float* planes);

// Smoothed and mixed targets [N, classes] of pictures with these labels and of their partners:
// 1 - e + e/K and e/K, then lambda y + (1 - lambda) y of the partner.
void soft_targets(const std::vector<int64_t>& labels, const std::vector<int64_t>& partners,
                  int64_t classes, double smoothing, const Mix& mix, std::vector<float>& targets);

}  // namespace soft
