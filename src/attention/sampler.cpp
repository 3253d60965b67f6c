#include "attention/sampler.h"

#include <cmath>

#include "attention/gelu.h"
#include "attention/kernel.h"
#include "attention/torch.h"
#include "base/permutation.h"
#include "spec/landmark_count.h"

namespace soft {
namespace {

using torch::Tensor;

constexpr double kNormEps = 1e-5;

// A map of vectors with an optional mask of real cells.
struct Map {
  Tensor cells;  // [B·h, d, H, W]
  Tensor real;   // [B, 1, H, W] of 0 and 1, or undefined
};

Map grid_map(const Tensor& q, const Tokens& tokens) {
  const int64_t b = q.size(0), h = q.size(1), d = q.size(3);
  const auto [height, width] = tokens.grid;
  // Cutting off nothing would cost a copy on the way back.
  const Tensor on_grid = tokens.prefix == 0 ? q : q.narrow(2, tokens.prefix, height * width);
  Map map;
  map.cells = on_grid.reshape({b * h, height, width, d}).permute({0, 3, 1, 2});
  if (tokens.mask.defined()) {
    const Tensor real = tokens.mask.narrow(1, tokens.prefix, height * width);
    map.real = real.reshape({b, 1, height, width}).to(q.scalar_type());
  }
  return map;
}

// A sequence's last window may be short; what it lacks counts as padding.
Map padded_to_windows(const Map& map, int64_t ratio) {
  const int64_t length = map.cells.size(2);
  const int64_t missing = (ratio - length % ratio) % ratio;
  if (missing == 0) return map;
  const Tensor real =
      map.real.defined() ? map.real : torch::ones({1, 1, length, 1}, map.cells.options());
  return {torch::constant_pad_nd(map.cells, {0, 0, 0, missing}),
          torch::constant_pad_nd(real, {0, 0, 0, missing})};
}

// Masked cells are 0, so the mean over real cells is the plain mean divided by the share of real
// cells.
Map over_real_cells(const Map& pooled) {
  if (!pooled.real.defined()) return pooled;
  const int64_t heads = pooled.cells.size(0) / pooled.real.size(0);
  const Tensor share = pooled.real.repeat_interleave(heads, 0);
  const Tensor present = (pooled.real > 0).to(pooled.real.scalar_type());
  return {pooled.cells / torch::where(share > 0, share, torch::ones_like(share)), present};
}

Map pooled(const Map& map, const std::function<Tensor(const Tensor&)>& pool) {
  return over_real_cells({pool(map.cells), map.real.defined() ? pool(map.real) : Tensor()});
}

Map adaptively_pooled(const Map& map, int64_t height, int64_t width) {
  return pooled(map, [&](const Tensor& t) {
    return torch::adaptive_avg_pool2d(t, {height, width});
  });
}

Landmarks as_landmarks(const Map& map, int64_t batch) {
  const Tensor cells = map.cells.flatten(2).transpose(1, 2);  // [B·h, m, d]
  Landmarks landmarks;
  landmarks.tokens = cells.reshape({batch, -1, cells.size(1), cells.size(2)});
  if (map.real.defined()) {
    landmarks.present = map.real.flatten(1).to(torch::kBool).expand({batch, cells.size(1)});
  }
  return landmarks;
}

std::shared_ptr<torch::nn::Module> named_module(torch::nn::Module& owner, const char* name) {
  return owner.register_module(name, std::make_shared<torch::nn::Module>(name));
}

// The map that windows are cut from: pooled to a whole number of windows, or padded to one.
Map map_for_windows(const Tensor& x, const Tokens& tokens, const AttentionSpec& spec) {
  const Map map = grid_map(x, tokens);
  const int64_t r = spec.ratio;
  if (spec.landmarks > 0) {
    const int64_t m = landmark_count(spec, tokens.grid);
    const auto side = spec.sequence ? m : static_cast<int64_t>(std::lround(std::sqrt(m)));
    return adaptively_pooled(map, side * r, spec.sequence ? 1 : side * r);
  }
  return spec.sequence ? padded_to_windows(map, r) : map;
}

}  // namespace

Tensor window_kernel(const AttentionSpec& spec) {
  const int64_t d = spec.head_dim(), r = spec.ratio;
  const Tensor kernel = spec.sequence ? torch::empty({d, d, r}) : torch::empty({d, d, r, r});
  return torch::nn::init::kaiming_uniform_(kernel, std::sqrt(5.0));
}

Landmarks pooled_windows(const Tensor& x, const Tokens& tokens, const AttentionSpec& spec,
                         const Tensor& kernel) {
  const int64_t r = spec.ratio, r_w = spec.sequence ? 1 : r;
  Map map = map_for_windows(x, tokens, spec);
  if (!kernel.defined()) {
    const auto window_mean = [&](const Tensor& t) { return torch::avg_pool2d(t, {r, r_w}); };
    return as_landmarks(pooled(map, window_mean), x.size(0));
  }
  const int64_t d = x.size(3);
  map.cells = torch::conv2d(map.cells, kernel.reshape({d, d, r, r_w}), {}, {r, r_w});
  if (map.real.defined()) map.real = torch::max_pool2d(map.real, {r, r_w});
  return as_landmarks(map, x.size(0));
}

LandmarkSampler::LandmarkSampler(const AttentionSpec& spec, torch::nn::Module& owner)
    : spec_(spec) {
  if (spec.sampler != Sampler::kConv) return;
  const int64_t d = spec.head_dim();
  convolution_ = named_module(owner, "Qlandmark_op");
  convolution_->register_parameter("weight", window_kernel(spec));
  norm_ = named_module(*named_module(owner, "Qnorm_act"), "0");
  norm_->register_parameter("weight", torch::ones({d}));
  norm_->register_parameter("bias", torch::zeros({d}));
}

// Means and picks are scaled when they are few; the convolution reads scaled queries, as published.
Landmarks LandmarkSampler::sample(const Tensor& q, const Tokens& tokens) const {
  if (spec_.sampler == Sampler::kConv) return convolve(scaled(q), tokens);
  Landmarks landmarks =
      spec_.sampler == Sampler::kAvg ? pooled_windows(q, tokens, spec_) : pick(q, tokens);
  landmarks.tokens = scaled(landmarks.tokens);
  return landmarks;
}

std::optional<Windows> LandmarkSampler::plain_windows(const Tokens& tokens) const {
  const int64_t r = spec_.ratio;
  const bool whole = !spec_.sequence || tokens.grid.h % r == 0;
  if (spec_.sampler != Sampler::kAvg || spec_.landmarks > 0 || !whole || tokens.prefix > 0 ||
      tokens.mask.defined()) {
    return {};
  }
  return windows_by_ratio(tokens.grid, {r, spec_.sequence ? 1 : r});
}

Landmarks LandmarkSampler::pick(const Tensor& q, const Tokens& tokens) const {
  const int64_t m = landmark_count(spec_, tokens.grid);
  Tensor chosen = torch::arange(m);
  if (spec_.sampler == Sampler::kRandom) {
    auto generator = tokens.generator;
    if (!tokens.training) generator = at::make_generator<at::CPUGeneratorImpl>(kEvaluationDraw);
    chosen = torch::randperm(tokens.grid.size(), generator, torch::kInt64).narrow(0, 0, m);
  }
  chosen = (chosen + tokens.prefix).to(q.device());
  Landmarks landmarks{q.index_select(2, chosen), {}};
  if (tokens.mask.defined()) {
    landmarks.present = tokens.mask.index_select(1, chosen).to(torch::kBool);
  }
  return landmarks;
}

Landmarks LandmarkSampler::convolve(const Tensor& q, const Tokens& tokens) const {
  const Tensor kernel = convolution_->named_parameters()["weight"];
  Landmarks landmarks = pooled_windows(q, tokens, spec_, kernel);
  const auto norm = norm_->named_parameters();
  landmarks.tokens = erf_gelu(
      torch::layer_norm(landmarks.tokens, {q.size(3)}, norm["weight"], norm["bias"], kNormEps));
  if (spec_.kernel_scale == KernelScale::kPaper) landmarks.tokens = scaled(landmarks.tokens);
  return landmarks;
}

}  // namespace soft
