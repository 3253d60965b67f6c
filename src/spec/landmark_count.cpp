#include "spec/landmark_count.h"

#include <algorithm>

namespace soft {

constexpr int64_t kSequenceLandmarks = 64;  // nystromformer's own number

int64_t landmark_count(const AttentionSpec& spec, Grid grid) {
  if (!shortens_keys(spec.mechanism)) return 0;
  if (spec.sequence && spec.mechanism == Mechanism::kLinformer) return spec.projection;
  if (spec.sequence && spec.mechanism == Mechanism::kNystromformer && spec.landmarks == 0) {
    return std::min<int64_t>(kSequenceLandmarks, grid.size());
  }
  if (spec.landmarks > 0) return std::min<int64_t>(spec.landmarks, grid.size());
  if (spec.sequence) return (grid.h + spec.ratio - 1) / spec.ratio;
  return (grid.h / spec.ratio) * (grid.w / spec.ratio);
}

int64_t bucket_count(const AttentionSpec& spec, int64_t tokens) {
  const int64_t wanted = (tokens + spec.bucket_size - 1) / spec.bucket_size;
  return wanted + wanted % 2;
}

}  // namespace soft
