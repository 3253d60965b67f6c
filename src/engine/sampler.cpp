#include "engine/sampler.h"

#include <algorithm>
#include <cmath>

#include "spec/landmark_count.h"

namespace soft {

LandmarkConv layer_conv(const Windows& windows, int64_t dim, const PackedLayer* layer) {
  LandmarkConv conv{windows, dim, nullptr, nullptr, nullptr};
  if (layer == nullptr) return conv;
  conv.weight = layer->landmark_weight.data();
  conv.gamma = layer->landmark_norm.gamma.data();
  conv.beta = layer->landmark_norm.beta.data();
  conv.epsilon = layer->landmark_norm.epsilon;
  return conv;
}

HeadSampler::HeadSampler(const AttentionSpec& spec, Grid grid)
    : sampler_(spec.sampler),
      scale_(spec.kernel_scale),
      dim_(spec.head_dim()),
      count_(landmark_count(spec, grid)) {
  if (sampler_ == Sampler::kBiased) return;
  Grid map = grid;
  if (spec.landmarks > 0) {
    const int64_t side = std::llround(std::sqrt(count_)) * spec.ratio;
    map = {side, side};
    if (map != grid) pooled_ = adaptive_windows(grid, map);
  }
  windows_ = windows_by_ratio(map, {spec.ratio, spec.ratio});
}

LandmarkConv HeadSampler::conv(const PackedLayer* layer) const {
  return layer_conv(windows_, dim_, layer);
}

int64_t HeadSampler::scratch() const {
  const int64_t pooled = padded(pooled_.count() * dim_);
  return sampler_ == Sampler::kConv ? pooled + landmark_scratch(conv(nullptr)) : pooled;
}

void HeadSampler::sample(const PackedLayer& layer, ConstRows q, float* landmarks,
                         float* scratch) const {
  if (sampler_ == Sampler::kBiased) {
    for (int64_t i = 0; i < count_; ++i) std::copy_n(q.row(i), dim_, landmarks + i * dim_);
    return;
  }
  if (pooled_.count() > 0) {
    average_pool(pooled_, dim_, q, 1, nullptr, scratch);  // [g·r · g·r, d]
    q = {scratch, dim_};
    scratch += padded(pooled_.count() * dim_);
  }
  if (sampler_ == Sampler::kAvg) {
    average_pool(windows_, dim_, q, 1, nullptr, landmarks);
  } else {
    landmark_conv(conv(&layer), q, landmarks, nullptr, scratch);
    if (scale_ == KernelScale::kReleased) return;
    const auto quarter_root = static_cast<float>(std::pow(dim_, -0.25));
    for (int64_t i = 0; i < count_ * dim_; ++i) landmarks[i] *= quarter_root;
  }
}

}  // namespace soft
