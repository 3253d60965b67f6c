#include "spec/cost.h"

#include <algorithm>

namespace soft {
namespace {

constexpr int64_t kSequenceLandmarks = 64;  // nystromformer's own number

struct Count {
  int64_t params = 0;
  int64_t macs = 0;
  int64_t inverse_macs = 0;
  int64_t buffers = 0;  // BN's running statistics, random features: stored, not trained

  Count& operator+=(const Count& other) {
    params += other.params;
    macs += other.macs;
    inverse_macs += other.inverse_macs;
    buffers += other.buffers;
    return *this;
  }
};

Count operator*(int64_t times, const Count& c) {
  return {times * c.params, times * c.macs, times * c.inverse_macs, times * c.buffers};
}

Count linear(int64_t rows, int64_t in, int64_t out) { return {in * out + out, rows * in * out}; }
Count layer_norm(int64_t dim) { return {2 * dim}; }

Count conv(int64_t outputs, int64_t in, int64_t out, int64_t kernel) {
  return {in * out * kernel * kernel + out, outputs * in * out * kernel * kernel};
}

Count conv_bn(int64_t outputs, int64_t in, int64_t out) {
  Count count = conv(outputs, in, out, 3);
  count.params += 2 * out;
  count.buffers = 2 * out;
  return count;
}

Count overlapping_embed(const ModelSpec& spec, int stage, Grid image, Grid grid) {
  const int64_t dim = spec.stages[stage].dim;
  if (stage > 0) return conv_bn(grid.size(), spec.stages[stage - 1].dim, dim);
  const auto shrink = [](Grid g, int stride) {
    return Grid{(g.h + stride - 1) / stride, (g.w + stride - 1) / stride};
  };
  const Grid first = shrink(image, spec.stem_strides[0]);
  const Grid second = shrink(first, spec.stem_strides[1]);
  Count count = conv_bn(first.size(), 3, spec.stem_dim);
  count += conv_bn(second.size(), spec.stem_dim, spec.stem_dim);
  count += conv_bn(grid.size(), spec.stem_dim, dim);
  return count;
}

Count patch_embed(const ModelSpec& spec, int stage, Grid image, Grid grid) {
  const int64_t dim = spec.stages[stage].dim;
  if (!spec.pyramid) return conv(grid.size(), 3, dim, spec.patch);
  if (spec.overlap) return overlapping_embed(spec, stage, image, grid);
  const int64_t in = stage == 0 ? 3 : spec.stages[stage - 1].dim;
  const auto& s = spec.stem_strides;
  Count count = conv(grid.size(), in, dim, stage == 0 ? s[0] * s[1] * s[2] : 2);
  count += layer_norm(dim);
  return count;
}

// L, K1, A, inv and the three products of SOFT.
Count soft_mix(const AttentionSpec& spec, int64_t n, int64_t m) {
  const int64_t d = spec.head_dim();
  const int64_t h = spec.heads;
  Count count;
  if (spec.sampler == Sampler::kConv) {
    const int64_t window = spec.sequence ? spec.ratio : int64_t{spec.ratio} * spec.ratio;
    count.params += window * d * d + 2 * d;  // one kernel for all heads, LayerNorm
    count.macs += h * m * window * d * d;
  }
  count.macs += h * (n * m * d + m * m * d);              // distances of K1 and A
  count.macs += h * (n * m * d + m * m * d + n * m * d);  // K1'V, inv·, K1·
  if (spec.inverse != Inverse::kExact) count.inverse_macs = h * 2 * spec.newton_steps * m * m * m;
  return count;
}

// E on K and on V, scores and values over the m rows that are left. A class token is one more.
Count linformer_mix(const AttentionSpec& spec, int64_t n, int64_t m, int64_t prefix) {
  const int64_t d = spec.head_dim(), h = spec.heads;
  const int64_t window = int64_t{spec.ratio} * spec.ratio;
  Count count;
  count.params = spec.sequence ? h * m * spec.longest : window * d * d;
  count.macs = 2 * h * (spec.sequence ? m * n * d : m * window * d * d);
  count.macs += 2 * h * n * (spec.sequence ? m : m + prefix) * d;
  return count;
}

// Features of Q and K, φ(K)'V, φ(Q)·, and the row sums.
Count performer_mix(const AttentionSpec& spec, int64_t n) {
  const int64_t d = spec.head_dim(), r = feature_count(spec);
  Count count;
  count.macs = spec.heads * n * r * (4 * d + 1);
  count.buffers = r * d;
  return count;
}

// F, A, B; then B·V, A⁺·, F·. Each of the six steps towards A⁺ is four products.
Count nystromformer_mix(const AttentionSpec& spec, int64_t n, int64_t m) {
  const int64_t d = spec.head_dim(), h = spec.heads;
  return {0, h * (4 * n * m * d + 2 * m * m * d), h * 6 * 4 * m * m * m};
}

// Hashes, then scores and values of every token with two chunks, a round at a time.
Count reformer_mix(const AttentionSpec& spec, int64_t n) {
  const int64_t d = spec.head_dim(), h = spec.heads, rounds = spec.hash_rounds;
  if (n <= spec.bucket_size) return {0, 2 * h * n * n * d};
  const int64_t hashed = n * d * bucket_count(spec, n) / 2;
  return {0, h * rounds * (hashed + 2 * n * 2 * spec.bucket_size * d)};
}

Count mix(const AttentionSpec& spec, int64_t n, int64_t m, int64_t prefix) {
  const int64_t d = spec.head_dim();
  const int64_t dense = 2 * spec.heads * n * n * d;  // scores, then values
  switch (spec.mechanism) {
    case Mechanism::kSoft:
    case Mechanism::kSoftNorm:
      return soft_mix(spec, n, m);
    case Mechanism::kSoftDense:
      return {d * d + 2 * d, spec.heads * n * d * d + dense};
    case Mechanism::kSoftmax:
    case Mechanism::kGaussian:
    case Mechanism::kGaussianSoftmax:
      return {0, dense};
    case Mechanism::kLinformer:
      return linformer_mix(spec, n, m, prefix);
    case Mechanism::kPerformer:
      return performer_mix(spec, n);
    case Mechanism::kNystromformer:
      return nystromformer_mix(spec, n, m);
    case Mechanism::kReformer:
      return reformer_mix(spec, n);
  }
  return {};
}

Count attention(const AttentionSpec& spec, Grid grid, int64_t prefix) {
  const int64_t n = grid.size() + prefix;
  const int64_t projections = shares_query_and_key(spec.mechanism) ? 3 : 4;  // Q, (K), V, out
  Count count = projections * linear(n, spec.dim, spec.dim);
  count += mix(spec, n, landmark_count(spec, grid), prefix);
  const int64_t k = spec.value_kernel;
  const int64_t kernel = spec.sequence ? k : k * k;
  count += {spec.heads * kernel, grid.size() * kernel * spec.dim};
  return count;
}

Count layer(const ModelSpec& spec, int stage, Grid grid, int64_t prefix) {
  const int64_t dim = spec.stages[stage].dim;
  const int64_t n = grid.size() + prefix;
  Count count = attention(attention_of(spec, stage), grid, prefix);
  count += linear(n, dim, spec.mlp_ratio * dim);
  count += linear(n, spec.mlp_ratio * dim, dim);
  count += 2 * layer_norm(dim);
  return count;
}

// What the mechanism holds of one head besides Q, K and V.
int64_t matrix_floats(const AttentionSpec& spec, int64_t n, int64_t m) {
  switch (spec.mechanism) {
    case Mechanism::kSoft:
    case Mechanism::kSoftNorm:
      return n * m + 2 * m * m;
    case Mechanism::kLinformer:
      return n * m;
    case Mechanism::kNystromformer:
      return 2 * n * m + 2 * m * m;
    case Mechanism::kPerformer:
      return 2 * n * feature_count(spec);
    case Mechanism::kReformer:
      return n <= spec.bucket_size ? n * n : int64_t{2} * spec.hash_rounds * n * spec.bucket_size;
    case Mechanism::kSoftDense:
    case Mechanism::kSoftmax:
    case Mechanism::kGaussian:
    case Mechanism::kGaussianSoftmax:
      return n * n;
  }
  return 0;
}

// Input, Q, V (and K), and either the MLP's hidden layer or the attention's own matrices.
int64_t layer_floats(const ModelSpec& spec, int stage, Grid grid, int64_t prefix) {
  const AttentionSpec attention = attention_of(spec, stage);
  const int64_t n = grid.size() + prefix;
  const int64_t m = landmark_count(attention, grid);
  const int64_t hidden = n * spec.mlp_ratio * attention.dim;
  const int64_t projected =
      3 * n * attention.dim + attention.heads * matrix_floats(attention, n, m);
  return n * attention.dim + std::max(hidden, projected);
}

}  // namespace

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

ModelCost cost_of(const ModelSpec& spec, Grid image) {
  check_image(spec, image);
  ModelCost cost;
  const Grid trained{spec.image_size, spec.image_size};
  int64_t buffers = 0;
  for (int s = 0; s < static_cast<int>(spec.stages.size()); ++s) {
    const StageSpec& stage = spec.stages[s];
    const Grid grid = stage_grid(spec, s, image);
    const int64_t prefix = has_class_token(spec, s) ? 1 : 0;
    Count count = patch_embed(spec, s, image, grid);
    count += stage.depth * layer(spec, s, grid, prefix);
    const int64_t positions = stage_grid(spec, s, trained).size() + prefix;
    count.params += (positions + prefix) * stage.dim;  // positions, and the class token itself
    buffers += count.buffers;
    cost.stages.push_back({grid, landmark_count(attention_of(spec, s), grid), count.params,
                           count.macs, count.inverse_macs});
    cost.params += count.params;
    cost.macs += count.macs;
    cost.macs_with_inverse += count.macs + count.inverse_macs;
    cost.activation_bytes =
        std::max<int64_t>(cost.activation_bytes, 4 * layer_floats(spec, s, grid, prefix));
  }
  const int64_t dim = spec.stages.back().dim;
  const Count head = linear(1, dim, spec.classes);
  cost.head_params = head.params + layer_norm(dim).params;
  cost.head_macs = head.macs;
  cost.params += cost.head_params;
  cost.macs += cost.head_macs;
  cost.macs_with_inverse += cost.head_macs;
  cost.weight_bytes = 4 * (cost.params + buffers);
  return cost;
}

}  // namespace soft
