#include "describe/mix.h"

#include "spec/landmark_count.h"

namespace soft {
namespace {

// A square window of a picture, a stretch of a sequence.
std::vector<int64_t> window(const AttentionSpec& spec, int64_t out, int64_t in, int64_t side) {
  if (spec.sequence) return {out, in, side};
  return {out, in, side, side};
}

Wide taps(const AttentionSpec& spec, Wide side) { return spec.sequence ? side : side * side; }

// One head's numbers: n tokens of d channels, m landmarks, r features.
struct Sizes {
  explicit Sizes(const op::Mix& mix)
      : spec(mix.spec),
        grid(mix.grid.size()),
        n(mix.grid.size() + mix.prefix),
        m(landmark_count(mix.spec, mix.grid)),
        d(mix.spec.head_dim()),
        prefix(mix.prefix) {}

  const AttentionSpec& spec;
  Wide grid, n, m, d, prefix;
};

// L, K1, A, inv and the three products of SOFT.
PartCost soft_cost(const Sizes& s) {
  PartCost cost;
  if (s.spec.sampler == Sampler::kConv) cost.macs = s.m * taps(s.spec, s.spec.ratio) * s.d * s.d;
  cost.macs += s.n * s.m * s.d + s.m * s.m * s.d;                    // distances of K1 and A
  cost.macs += s.n * s.m * s.d + s.m * s.m * s.d + s.n * s.m * s.d;  // K1'V, inv·, K1·
  if (s.spec.inverse != Inverse::kExact) {
    cost.inverse_macs = Wide{2} * s.spec.newton_steps * s.m * s.m * s.m;
  }
  cost.floats = s.n * s.m + 2 * s.m * s.m;
  return cost;
}

// Scores, then values.
PartCost dense_cost(const Sizes& s) { return {2 * s.n * s.n * s.d, 0, s.n * s.n}; }

PartCost soft_dense_cost(const Sizes& s) {
  PartCost cost = dense_cost(s);
  cost.macs += s.n * s.d * s.d;
  return cost;
}

// E on K and on V, scores and values over the m rows that are left. A class token is one more.
PartCost linformer_cost(const Sizes& s) {
  const Wide window = Wide{s.spec.ratio} * s.spec.ratio;
  const Wide projected = s.spec.sequence ? s.m * s.n * s.d : s.m * window * s.d * s.d;
  const Wide rows = s.spec.sequence ? s.m : s.m + s.prefix;
  return {2 * projected + 2 * s.n * rows * s.d, 0, s.n * s.m};
}

// Features of Q and K, φ(K)'V, φ(Q)·, and the row sums.
PartCost performer_cost(const Sizes& s) {
  const Wide r = feature_count(s.spec);
  return {s.n * r * (4 * s.d + 1), 0, 2 * s.n * r};
}

// F, A, B; then B·V, A⁺·, F·. Each of the six steps towards A⁺ is four products.
PartCost nystromformer_cost(const Sizes& s) {
  return {4 * s.n * s.m * s.d + 2 * s.m * s.m * s.d, 6 * 4 * s.m * s.m * s.m,
          2 * s.n * s.m + 2 * s.m * s.m};
}

// Hashes, then scores and values of every token with two chunks, a round at a time.
PartCost reformer_cost(const Sizes& s) {
  const Wide bucket = s.spec.bucket_size, rounds = s.spec.hash_rounds;
  if (s.n <= bucket) return dense_cost(s);
  const Wide hashed = s.n * s.d * bucket_count(s.spec, static_cast<int64_t>(s.n)) / 2;
  return {rounds * (hashed + 2 * s.n * 2 * bucket * s.d), 0, 2 * rounds * s.n * bucket};
}

PartCost head_cost(const Sizes& s) {
  switch (s.spec.mechanism) {
    case Mechanism::kSoft:
    case Mechanism::kSoftNorm:
      return soft_cost(s);
    case Mechanism::kSoftDense:
      return soft_dense_cost(s);
    case Mechanism::kSoftmax:
    case Mechanism::kGaussian:
    case Mechanism::kGaussianSoftmax:
      return dense_cost(s);
    case Mechanism::kLinformer:
      return linformer_cost(s);
    case Mechanism::kPerformer:
      return performer_cost(s);
    case Mechanism::kNystromformer:
      return nystromformer_cost(s);
    case Mechanism::kReformer:
      return reformer_cost(s);
    case Mechanism::kNone:
      return {};
  }
  return {};
}

// The conv sampler's kernel and norm; every token is its own landmark in soft-dense.
void add_sampler(std::vector<TensorShape>& tensors, const AttentionSpec& spec,
                 const std::string& prefix) {
  const int64_t d = spec.head_dim();
  const std::string landmark = prefix + std::string(kLandmarkName);
  const std::string norm = prefix + std::string(kLandmarkNormName);
  if (spec.mechanism == Mechanism::kSoftDense) {
    const Start start = spec.sequence ? Start::kUniform : Start::kNormal;  // sequences: LibTorch's
    tensors.push_back({landmark, {d, d}, TensorKind::kTrained, start});
  } else if (uses_landmarks(spec.mechanism) && spec.sampler == Sampler::kConv) {
    tensors.push_back(
        {landmark, window(spec, d, d, spec.ratio), TensorKind::kTrained, Start::kUniform});
  } else {
    return;
  }
  tensors.push_back({norm + ".weight", {d}, TensorKind::kTrained, Start::kOnes, false});
  tensors.push_back({norm + ".bias", {d}, TensorKind::kTrained, Start::kZeros, false});
}

// Linformer's E: rows over a whole sequence, or a convolution whose stride is its side.
TensorShape projection(const AttentionSpec& spec, const std::string& name) {
  const int64_t d = spec.head_dim(), r = spec.ratio;
  if (!spec.sequence) return {name, {d, d, r, r}, TensorKind::kTrained, Start::kUniform};
  return {
      name, {spec.heads, spec.projection, spec.longest}, TensorKind::kTrained, Start::kGaussian};
}

}  // namespace

PartCost mix_cost(const op::Mix& mix) {
  const Sizes sizes(mix);
  const Wide heads = mix.spec.heads;
  PartCost cost = head_cost(sizes);
  cost.macs *= heads;
  cost.inverse_macs *= heads;
  cost.macs += sizes.grid * taps(mix.spec, mix.spec.value_kernel) * mix.spec.dim;
  cost.floats = 4 * sizes.n * mix.spec.dim + heads * cost.floats;
  return cost;
}

std::vector<TensorShape> mix_tensors(const AttentionSpec& spec, const std::string& prefix) {
  std::vector<TensorShape> tensors;
  add_sampler(tensors, spec, prefix);
  if (spec.mechanism == Mechanism::kLinformer) {
    tensors.push_back(projection(spec, prefix + std::string(kProjectionName)));
  }
  if (spec.mechanism == Mechanism::kPerformer) {
    tensors.push_back({prefix + std::string(kFeaturesName),
                       {feature_count(spec), spec.head_dim()},
                       TensorKind::kDrawn,
                       Start::kOrthogonal,
                       false});
  }
  if (spec.value_kernel > 0) {
    tensors.push_back({prefix + std::string(kValueKernelName),
                       window(spec, spec.heads, 1, spec.value_kernel), TensorKind::kTrained,
                       Start::kUniform});
  }
  return tensors;
}

}  // namespace soft
