// Landmarks of one head on one grid, by any of the samplers that need no random numbers.
#pragma once

#include "engine/network.h"
#include "kernels/landmarks.h"

namespace soft {

// The convolution of `layer` over `windows`; without a layer only its shape, for sizes.
LandmarkConv layer_conv(const Windows& windows, int64_t dim, const PackedLayer* layer);

class HeadSampler {
 public:
  HeadSampler(const AttentionSpec& spec, Grid grid);

  int64_t count() const { return count_; }  // m
  int64_t scratch() const;                  // floats

  // q [grid, d], already scaled -> landmarks [m, d]
  void sample(const PackedLayer& layer, ConstRows q, float* landmarks, float* scratch) const;

 private:
  LandmarkConv conv(const PackedLayer* layer) const;

  Sampler sampler_;
  KernelScale scale_;
  int64_t dim_;
  int64_t count_;
  Windows pooled_;  // fixed landmarks: the map is first averaged to (g·r) x (g·r); else no windows
  Windows windows_;  // what the sampler itself reads
};

}  // namespace soft
