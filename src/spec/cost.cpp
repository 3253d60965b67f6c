#include "spec/cost.h"

#include <algorithm>
#include <limits>

namespace soft {
namespace {

constexpr int64_t kSequenceLandmarks = 64;  // nystromformer's own number

// Settings that are each within their range may together need more than 64 bits; never more than
// these.
using Wide = __int128;

struct Count {
  Wide params = 0;
  Wide macs = 0;
  Wide inverse_macs = 0;
  Wide buffers = 0;  // BN's running statistics, random features: stored, not trained

  Count& operator+=(const Count& other) {
    params += other.params;
    macs += other.macs;
    inverse_macs += other.inverse_macs;
    buffers += other.buffers;
    return *this;
  }
};

Count operator*(Wide times, const Count& c) {
  return {times * c.params, times * c.macs, times * c.inverse_macs, times * c.buffers};
}

Count linear(Wide rows, Wide in, Wide out) { return {in * out + out, rows * in * out}; }
Count layer_norm(Wide dim) { return {2 * dim}; }

Count conv(Wide outputs, Wide in, Wide out, Wide kernel) {
  return {in * out * kernel * kernel + out, outputs * in * out * kernel * kernel};
}

Count conv_bn(Wide outputs, Wide in, Wide out) {
  Count count = conv(outputs, in, out, 3);
  count.params += 2 * out;
  count.buffers = 2 * out;
  return count;
}

Wide class_tokens(const ModelSpec& spec, int stage) { return has_class_token(spec, stage) ? 1 : 0; }

Count overlapping_embed(const ModelSpec& spec, int stage, Grid image, Grid grid) {
  const Wide dim = spec.stages[stage].dim;
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
  const Wide dim = spec.stages[stage].dim;
  if (!spec.pyramid) return conv(grid.size(), 3, dim, spec.patch);
  if (spec.overlap) return overlapping_embed(spec, stage, image, grid);
  const Wide in = stage == 0 ? 3 : spec.stages[stage - 1].dim;
  const auto& s = spec.stem_strides;
  Count count = conv(grid.size(), in, dim, stage == 0 ? s[0] * s[1] * s[2] : 2);
  count += layer_norm(dim);
  return count;
}

// L, K1, A, inv and the three products of SOFT.
Count soft_mix(const AttentionSpec& spec, Wide n, Wide m) {
  const Wide d = spec.head_dim();
  const Wide h = spec.heads;
  Count count;
  if (spec.sampler == Sampler::kConv) {
    const Wide window = spec.sequence ? spec.ratio : Wide{spec.ratio} * spec.ratio;
    count.params += window * d * d + 2 * d;  // one kernel for all heads, LayerNorm
    count.macs += h * m * window * d * d;
  }
  count.macs += h * (n * m * d + m * m * d);              // distances of K1 and A
  count.macs += h * (n * m * d + m * m * d + n * m * d);  // K1'V, inv·, K1·
  if (spec.inverse != Inverse::kExact) count.inverse_macs = h * 2 * spec.newton_steps * m * m * m;
  return count;
}

// E on K and on V, scores and values over the m rows that are left. A class token is one more.
Count linformer_mix(const AttentionSpec& spec, Wide n, Wide m, Wide prefix) {
  const Wide d = spec.head_dim(), h = spec.heads;
  const Wide window = Wide{spec.ratio} * spec.ratio;
  Count count;
  count.params = spec.sequence ? h * m * spec.longest : window * d * d;
  count.macs = 2 * h * (spec.sequence ? m * n * d : m * window * d * d);
  count.macs += 2 * h * n * (spec.sequence ? m : m + prefix) * d;
  return count;
}

// Features of Q and K, φ(K)'V, φ(Q)·, and the row sums.
Count performer_mix(const AttentionSpec& spec, Wide n) {
  const Wide d = spec.head_dim(), r = feature_count(spec);
  Count count;
  count.macs = spec.heads * n * r * (4 * d + 1);
  count.buffers = r * d;
  return count;
}

// F, A, B; then B·V, A⁺·, F·. Each of the six steps towards A⁺ is four products.
Count nystromformer_mix(const AttentionSpec& spec, Wide n, Wide m) {
  const Wide d = spec.head_dim(), h = spec.heads;
  return {0, h * (4 * n * m * d + 2 * m * m * d), h * 6 * 4 * m * m * m};
}

// Hashes, then scores and values of every token with two chunks, a round at a time.
Count reformer_mix(const AttentionSpec& spec, Wide n) {
  const Wide d = spec.head_dim(), h = spec.heads, rounds = spec.hash_rounds;
  if (n <= spec.bucket_size) return {0, 2 * h * n * n * d};
  const Wide hashed = n * d * bucket_count(spec, n) / 2;
  return {0, h * rounds * (hashed + 2 * n * 2 * spec.bucket_size * d)};
}

Count mix(const AttentionSpec& spec, Wide n, Wide m, Wide prefix) {
  const Wide d = spec.head_dim();
  const Wide dense = 2 * spec.heads * n * n * d;  // scores, then values
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

Count attention(const AttentionSpec& spec, Grid grid, Wide prefix) {
  const Wide n = grid.size() + prefix;
  const Wide projections = shares_query_and_key(spec.mechanism) ? 3 : 4;  // Q, (K), V, out
  Count count = projections * linear(n, spec.dim, spec.dim);
  count += mix(spec, n, landmark_count(spec, grid), prefix);
  const Wide k = spec.value_kernel;
  const Wide kernel = spec.sequence ? k : k * k;
  count += {spec.heads * kernel, grid.size() * kernel * spec.dim};
  return count;
}

Count layer(const ModelSpec& spec, int stage, Grid grid, Wide prefix) {
  const Wide dim = spec.stages[stage].dim;
  const Wide n = grid.size() + prefix;
  Count count = attention(attention_of(spec, stage), grid, prefix);
  count += linear(n, dim, spec.mlp_ratio * dim);
  count += linear(n, spec.mlp_ratio * dim, dim);
  count += 2 * layer_norm(dim);
  return count;
}

// What the mechanism holds of one head besides Q, K and V.
Wide matrix_floats(const AttentionSpec& spec, Wide n, Wide m) {
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
      return n <= spec.bucket_size ? n * n : Wide{2} * spec.hash_rounds * n * spec.bucket_size;
    case Mechanism::kSoftDense:
    case Mechanism::kSoftmax:
    case Mechanism::kGaussian:
    case Mechanism::kGaussianSoftmax:
      return n * n;
  }
  return 0;
}

// Input, Q, V (and K), and either the MLP's hidden layer or the attention's own matrices.
Wide layer_floats(const ModelSpec& spec, int stage, Grid grid) {
  const AttentionSpec attention = attention_of(spec, stage);
  const Wide n = grid.size() + class_tokens(spec, stage);
  const Wide m = landmark_count(attention, grid);
  const Wide hidden = n * spec.mlp_ratio * attention.dim;
  const Wide projected = 3 * n * attention.dim + attention.heads * matrix_floats(attention, n, m);
  return n * attention.dim + std::max(hidden, projected);
}

// Patch embedding, positions, class token and layers.
Count stage_count(const ModelSpec& spec, int stage, Grid image) {
  const StageSpec& row = spec.stages[stage];
  const Grid grid = stage_grid(spec, stage, image);
  const Grid trained = stage_grid(spec, stage, {spec.image_size, spec.image_size});
  const Wide prefix = class_tokens(spec, stage);
  Count count = patch_embed(spec, stage, image, grid);
  count += row.depth * layer(spec, stage, grid, prefix);
  count.params += (trained.size() + 2 * prefix) * row.dim;  // the class token and its position
  return count;
}

// Final norm and classifier.
Count head_count(const ModelSpec& spec) {
  const Wide dim = spec.stages.back().dim;
  Count count = linear(1, dim, spec.classes);
  count += layer_norm(dim);
  return count;
}

int64_t fitted(Wide count) {
  if (count > std::numeric_limits<int64_t>::max()) {
    fail_usage(
        "this model takes {:.1e} operations or bytes, more than can be counted; use fewer "
        "channels, layers or pixels",
        static_cast<double>(count));
  }
  return static_cast<int64_t>(count);
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
  Count whole = head_count(spec);
  cost.head_params = fitted(whole.params);
  cost.head_macs = fitted(whole.macs);
  Wide floats = 0;
  for (int s = 0; s < static_cast<int>(spec.stages.size()); ++s) {
    const Count count = stage_count(spec, s, image);
    const Grid grid = stage_grid(spec, s, image);
    cost.stages.push_back({grid, landmark_count(attention_of(spec, s), grid), fitted(count.params),
                           fitted(count.macs), fitted(count.inverse_macs)});
    whole += count;
    floats = std::max(floats, layer_floats(spec, s, grid));
  }
  cost.params = fitted(whole.params);
  cost.macs = fitted(whole.macs);
  cost.macs_with_inverse = fitted(whole.macs + whole.inverse_macs);
  cost.weight_bytes = fitted(4 * (whole.params + whole.buffers));
  cost.activation_bytes = fitted(4 * floats);
  return cost;
}

}  // namespace soft
