// Properties of the kernel and of whole attention layers.
#include "attention/attention.h"
#include "attention/inverse.h"
#include "attention/kernel.h"
#include "attention/projected.h"
#include "attention/sampler.h"
#include "support/tensors.h"

namespace soft {
namespace {

using test::relative_error;
using torch::Tensor;

AttentionSpec soft_spec() {
  AttentionSpec spec;
  spec.heads = 2;
  spec.dim = 64;
  spec.ratio = 4;
  spec.value_kernel = 5;
  return spec;
}

Tokens grid_tokens(int64_t h, int64_t w, int64_t prefix = 0) {
  Tokens tokens;
  tokens.grid = {h, w};
  tokens.prefix = prefix;
  return tokens;
}

TEST(GaussianKernel, OfASetWithItselfIsSymmetricWithUnitDiagonalAndInRange) {
  torch::manual_seed(1);
  for (double spread : {0.0, 1e-4, 0.3, 1.0, 100.0}) {
    const Tensor a = gaussian_self(torch::randn({3, 50, 32}) * spread);
    EXPECT_TRUE(torch::equal(a, a.transpose(-1, -2))) << spread;
    EXPECT_TRUE(torch::equal(a.diagonal(0, -2, -1), torch::ones({3, 50}))) << spread;
    EXPECT_GE(a.min().item<float>(), 0) << spread;
    EXPECT_LE(a.max().item<float>(), 1) << spread;
  }
}

TEST(GaussianKernel, IsTheExponentialOfHalfTheSquaredDistance) {
  torch::manual_seed(1);
  const Tensor q = torch::randn({7, 5}, torch::kFloat64), l = torch::randn({4, 5}, torch::kFloat64);
  const Tensor distance = (q.unsqueeze(1) - l.unsqueeze(0)).square().sum(-1);
  EXPECT_LT(relative_error(gaussian(q, l), torch::exp(-0.5 * distance)), 1e-12);
}

// The linear layers around it promise their bits at a fixed number of threads only, so they stay at
// one.
TEST(SoftAttention, GivesTheSameBitsForAnyNumberOfThreads) {
  torch::manual_seed(4);
  const auto attention = test::projected(soft_spec());
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const Heads heads = attention->project(torch::randn({3, 28 * 28, 64}));
  const auto run = [&](int threads) {
    at::set_num_threads(threads);
    Heads own{heads.q.detach().requires_grad_(), {}, heads.v.detach().requires_grad_()};
    own.k = own.q;
    const Tensor y = attention->attend(own, grid_tokens(28, 28));
    const auto gradients = torch::autograd::grad({y.square().sum()}, {own.q, own.v});
    return std::vector<Tensor>{y, gradients[0], gradients[1]};
  };
  const std::vector<Tensor> single = run(1);
  for (const int threads : {2, 3, 4}) {
    const std::vector<Tensor> several = run(threads);
    for (size_t i = 0; i < single.size(); ++i) {
      EXPECT_TRUE(torch::equal(several[i], single[i])) << threads << " threads, result " << i;
    }
  }
  at::set_num_threads(before);
}

TEST(SoftAttention, KeepsAClassTokenOutOfTheLandmarks) {
  torch::manual_seed(4);
  AttentionSpec spec = soft_spec();
  torch::nn::Module owner;
  const LandmarkSampler sampler(spec, owner);
  const Tensor q = torch::randn({1, 2, 1 + 8 * 8, 32});
  const Tensor with = sampler.sample(q, grid_tokens(8, 8, 1)).tokens;
  const Tensor without = sampler.sample(q.narrow(2, 1, 64), grid_tokens(8, 8)).tokens;
  EXPECT_TRUE(torch::equal(with, without));
}

TEST(SoftAttention, AddsNoValuePathToAClassToken) {
  torch::manual_seed(4);
  AttentionSpec spec = soft_spec();
  const auto attention = test::projected(spec);
  const torch::NoGradGuard no_grad;
  const Tensor q = torch::randn({1, 2, 65, 32});
  const Heads heads{q, q, torch::randn_like(q)};
  const Tensor difference =
      attention->attend(heads, grid_tokens(8, 8, 1)) - attention->mix(heads, grid_tokens(8, 8, 1));
  EXPECT_EQ(difference.select(2, 0).abs().max().item<float>(), 0);
  EXPECT_GT(difference.narrow(2, 1, 64).abs().max().item<float>(), 0);
}

TEST(SoftDense, AddsTheClassTokensOwnValue) {
  torch::manual_seed(4);
  AttentionSpec spec = soft_spec();
  spec.mechanism = Mechanism::kSoftDense;
  const auto attention = test::projected(spec);
  const torch::NoGradGuard no_grad;
  const Tensor q = torch::randn({1, 2, 50, 32});
  const Heads heads{q, q, torch::randn_like(q)};
  const Tensor difference =
      attention->attend(heads, grid_tokens(7, 7, 1)) - attention->mix(heads, grid_tokens(7, 7, 1));
  EXPECT_LT(relative_error(difference.select(2, 0), heads.v.select(2, 0)), 1e-4);
}

TEST(FixedLandmarks, AreTheRatioOnesWhereTheGridFitsExactly) {
  torch::manual_seed(4);
  AttentionSpec spec = soft_spec();
  const auto by_ratio = test::projected(spec);
  spec.landmarks = 9;
  const auto fixed = test::projected(spec);
  test::Tensors weights;
  for (const auto& item : by_ratio->named_parameters()) weights[item.key()] = item.value();
  test::load_parameters(*fixed, weights, "");
  const torch::NoGradGuard no_grad;
  const Tensor x = torch::randn({2, 12 * 12, 64});
  EXPECT_LT(relative_error(fixed->forward(x, grid_tokens(12, 12)),
                           by_ratio->forward(x, grid_tokens(12, 12))),
            1e-6);
}

TEST(FixedLandmarks, StayAsManyAtEveryResolution) {
  AttentionSpec spec = soft_spec();
  spec.landmarks = 49;
  torch::nn::Module owner;
  const LandmarkSampler sampler(spec, owner);
  for (const Grid grid : {Grid{7, 7}, Grid{13, 9}, Grid{56, 56}, Grid{31, 112}}) {
    Tokens tokens;
    tokens.grid = grid;
    const Tensor q = torch::randn({1, 2, grid.size(), 32});
    EXPECT_EQ(sampler.sample(q, tokens).tokens.size(2), 49) << grid.h << "x" << grid.w;
  }
}

TEST(RandomSampler, DrawsTheSameInEvaluationAndAnewInTraining) {
  AttentionSpec spec = soft_spec();
  spec.sampler = Sampler::kRandom;
  torch::nn::Module owner;
  const LandmarkSampler sampler(spec, owner);
  const Tensor q = torch::randn({1, 2, 16 * 16, 32});
  Tokens tokens = grid_tokens(16, 16);
  EXPECT_TRUE(torch::equal(sampler.sample(q, tokens).tokens, sampler.sample(q, tokens).tokens));
  tokens.training = true;
  EXPECT_FALSE(torch::equal(sampler.sample(q, tokens).tokens, sampler.sample(q, tokens).tokens));
}

TEST(RandomSampler, NeverDrawsATokenTwice) {
  AttentionSpec spec = soft_spec();
  spec.sampler = Sampler::kRandom;
  spec.ratio = 1;
  torch::nn::Module owner;
  const LandmarkSampler sampler(spec, owner);
  const Tensor q = torch::arange(36).to(torch::kFloat32).reshape({1, 1, 36, 1});
  const Tensor drawn = std::get<0>(sampler.sample(q, grid_tokens(6, 6)).tokens.flatten().sort());
  EXPECT_TRUE(torch::equal(drawn, q.flatten()));
}

TEST(Sequences, OfAnyLengthHaveALastShortWindow) {
  AttentionSpec spec = soft_spec();
  spec.sequence = true;
  spec.sampler = Sampler::kAvg;
  torch::nn::Module owner;
  const LandmarkSampler sampler(spec, owner);
  const Tensor q = torch::arange(10).to(torch::kFloat32).reshape({1, 1, 10, 1});
  const Tensor landmarks = sampler.sample(q, grid_tokens(10, 1)).tokens.flatten();
  EXPECT_TRUE(torch::allclose(landmarks, torch::tensor({1.5f, 5.5f, 8.5f})));
}

}  // namespace
}  // namespace soft
