// What is particular to each rival: what it approximates, and how well.
#include <cmath>

#include "attention/attention.h"
#include "attention/fast_path.h"
#include "attention/projected.h"
#include "support/tensors.h"

namespace soft {
namespace {

using test::absolute_error;
using test::relative_error;
using torch::Tensor;

AttentionSpec spec_of(Mechanism mechanism, bool sequence = true) {
  AttentionSpec spec;
  spec.mechanism = mechanism;
  spec.heads = 2;
  spec.dim = 32;
  spec.ratio = 2;
  spec.sequence = sequence;
  return spec;
}

Tokens line(int64_t n) {
  Tokens tokens;
  tokens.grid = {n, 1};
  return tokens;
}

Heads random_heads(const AttentionSpec& spec, int64_t n, double spread = 1) {
  const auto draw = [&] {
    return torch::randn({2, spec.heads, n, spec.head_dim()}, torch::kFloat64);
  };
  const Tensor q = spread * draw();
  return {q, shares_query_and_key(spec.mechanism) ? q : spread * draw(), draw()};
}

std::shared_ptr<test::Projected> in_double(const AttentionSpec& spec) {
  auto attention = test::projected(spec);
  attention->to(torch::kFloat64);
  return attention;
}

Tensor softmax_of(const Heads& heads) {
  const Tensor scores = torch::matmul(heads.q, heads.k.transpose(-1, -2));
  return torch::matmul((scores / std::sqrt(static_cast<double>(heads.q.size(-1)))).softmax(-1),
                       heads.v);
}

double distance(const Tensor& a, const Tensor& b) { return (a - b).norm().item<double>(); }

// ---- Performer

// The slope of a line through (log x, log y).
double slope_of(const std::vector<double>& x, const std::vector<double>& y) {
  double mean_x = 0, mean_y = 0, above = 0, below = 0;
  const auto count = static_cast<double>(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    mean_x += std::log(x[i]) / count;
    mean_y += std::log(y[i]) / count;
  }
  for (size_t i = 0; i < x.size(); ++i) {
    above += (std::log(x[i]) - mean_x) * (std::log(y[i]) - mean_y);
    below += std::pow(std::log(x[i]) - mean_x, 2);
  }
  return above / below;
}

// Each error is a mean over many draws. Short vectors keep the bias of the added 1e-4 out of sight.
TEST(Performer, ErrorAgainstSoftmaxFallsAsTheRootOfTheFeatures) {
  torch::manual_seed(5);
  const Heads heads = random_heads(spec_of(Mechanism::kPerformer), 64, 0.25);
  const Tensor exact = softmax_of(heads);
  const std::vector<double> features{8, 16, 32, 64, 128};
  std::vector<double> errors;
  for (double count : features) {
    AttentionSpec spec = spec_of(Mechanism::kPerformer);
    spec.features = static_cast<int>(count);
    double sum = 0;
    for (int draw = 0; draw < 32; ++draw) {
      sum += distance(in_double(spec)->mix(heads, line(64)), exact);
    }
    errors.push_back(sum);
  }
  EXPECT_NEAR(slope_of(features, errors), -0.5, 0.06);
}

TEST(Performer, DrawsAnewOnlyWhenItsStepsAreOver) {
  AttentionSpec spec = spec_of(Mechanism::kPerformer);
  spec.redraw_steps = 10;
  const auto attention = test::projected(spec);
  const auto omega = [&] { return attention->named_buffers()["attn.omega"].clone(); };
  const Tensor first = omega();
  for (int64_t step : {0, 1, 9, 11}) attention->start_step(step);
  EXPECT_TRUE(torch::equal(omega(), first));
  attention->start_step(10);
  EXPECT_FALSE(torch::equal(omega(), first));
  spec.redraw_steps = 0;
  const auto fixed = test::projected(spec);
  const Tensor before = fixed->named_buffers()["attn.omega"].clone();
  for (int64_t step : {0, 1000, 2000}) fixed->start_step(step);
  EXPECT_TRUE(torch::equal(fixed->named_buffers()["attn.omega"], before));
}

TEST(Performer, HasAsManyFeaturesAsItsHeadsAskFor) {
  AttentionSpec spec = spec_of(Mechanism::kPerformer, false);
  spec.dim = 64;
  EXPECT_EQ(test::projected(spec)->named_buffers()["attn.omega"].size(0), 110);  // 32 ln 32
  spec.sequence = true;
  EXPECT_EQ(test::projected(spec)->named_buffers()["attn.omega"].size(0), 256);
}

// A common maximum in the exponent would let a neighbour push everybody else's features to zero.
TEST(Performer, SurvivesANeighbourOfHugeScores) {
  torch::manual_seed(6);
  const auto attention = in_double(spec_of(Mechanism::kPerformer));
  Heads heads = random_heads(attention->spec(), 40);
  const Tensor before = attention->mix(heads, line(40))[0].clone();
  heads.q[1] *= 1e3;
  heads.k[1] *= 1e3;
  EXPECT_LT(relative_error(attention->mix(heads, line(40))[0], before), 1e-12);
}

// ---- Nyströmformer

TEST(Nystromformer, WithAsManyLandmarksAsTokensIsAlmostSoftmax) {
  torch::manual_seed(7);
  AttentionSpec spec = spec_of(Mechanism::kNystromformer);
  const Heads heads = random_heads(spec, 32, 2);
  const Tensor exact = softmax_of(heads);
  const auto error_with = [&](int landmarks) {
    spec.landmarks = landmarks;
    return distance(in_double(spec)->mix(heads, line(32)), exact) / distance(exact, 0 * exact);
  };
  EXPECT_LT(error_with(32), 0.05);
  EXPECT_GT(error_with(8), 2 * error_with(32));
}

TEST(Nystromformer, TakesSixtyFourLandmarksOfASequenceUnlessTold) {
  torch::manual_seed(7);
  AttentionSpec spec = spec_of(Mechanism::kNystromformer);
  const Heads heads = random_heads(spec, 200);
  const Tensor by_default = in_double(spec)->mix(heads, line(200));
  spec.landmarks = 64;
  EXPECT_TRUE(torch::equal(in_double(spec)->mix(heads, line(200)), by_default));
}

// ---- Linformer

TEST(Linformer, ShorterSequencesTakeTheFirstColumnsOfTheProjection) {
  torch::manual_seed(8);
  AttentionSpec spec = spec_of(Mechanism::kLinformer);
  spec.projection = 8;
  spec.longest = 50;
  const auto attention = in_double(spec);
  const Heads heads = random_heads(spec, 20);
  const Tensor e = attention->named_parameters()["attn.E"].narrow(2, 0, 20);  // [h, k, n]
  const Heads few{heads.q, torch::matmul(e, heads.k), torch::matmul(e, heads.v)};
  EXPECT_LT(relative_error(attention->mix(heads, line(20)), softmax_of(few)), 1e-12);
}

TEST(Linformer, RefusesASequenceLongerThanItsProjection) {
  AttentionSpec spec = spec_of(Mechanism::kLinformer);
  spec.longest = 16;
  const auto attention = in_double(spec);
  EXPECT_THAT(test::error_of([&] { attention->mix(random_heads(spec, 17), line(17)); }),
              testing::HasSubstr("17 tokens is longer than linformer's projection, made for 16"));
}

TEST(Linformer, OnAGridIsSoftmaxOverConvolvedWindows) {
  torch::manual_seed(8);
  const AttentionSpec spec = spec_of(Mechanism::kLinformer, false);
  const auto attention = in_double(spec);
  const Heads heads = random_heads(spec, 24);
  Tokens tokens;
  tokens.grid = {4, 6};
  const Tensor kernel = attention->named_parameters()["attn.E"];
  const auto convolved = [&](const Tensor& x) {
    const Tensor map = x.flatten(0, 1).transpose(1, 2).reshape({4, 16, 4, 6});
    return torch::conv2d(map, kernel, {}, 2).flatten(2).transpose(1, 2).reshape({2, 2, 6, 16});
  };
  const Heads few{heads.q, convolved(heads.k), convolved(heads.v)};
  EXPECT_LT(relative_error(attention->mix(heads, tokens), softmax_of(few)), 1e-12);
}

// ---- Reformer

Tensor shared_attention(const Heads& heads) {
  const Tensor keys = heads.q / heads.q.norm(2, -1, true);
  Tensor scores = torch::matmul(heads.q, keys.transpose(-1, -2)) / std::sqrt(heads.q.size(-1));
  const Tensor self = torch::eye(heads.q.size(2), torch::kBool);
  return torch::matmul(scores.masked_fill(self, -5e4).softmax(-1), heads.v);
}

AttentionSpec reformer(int rounds, int bucket) {
  AttentionSpec spec = spec_of(Mechanism::kReformer);
  spec.hash_rounds = rounds;
  spec.bucket_size = bucket;
  return spec;
}

TEST(Reformer, IsFullAttentionWhereTwoChunksHoldEverything) {
  torch::manual_seed(9);
  const Heads heads = random_heads(reformer(1, 16), 32, 2);
  const Tensor exact = shared_attention(heads);
  for (const auto& [rounds, bucket] : {std::pair{1, 16}, {3, 16}, {1, 17}, {2, 32}, {1, 64}}) {
    const Tensor y = in_double(reformer(rounds, bucket))->mix(heads, line(32));
    EXPECT_LT(relative_error(y, exact), 1e-9) << rounds << " rounds, buckets of " << bucket;
  }
}

TEST(Reformer, ErrorAgainstFullAttentionFallsWithMoreRounds) {
  torch::manual_seed(9);
  const Heads heads = random_heads(reformer(1, 8), 256, 4);
  const Tensor exact = shared_attention(heads);
  const auto error_with = [&](int rounds) {
    return distance(in_double(reformer(rounds, 8))->mix(heads, line(256)), exact);
  };
  const double one = error_with(1), four = error_with(4), sixteen = error_with(16);
  EXPECT_LT(four, 0.9 * one);
  EXPECT_LT(sixteen, 0.9 * four);
}

TEST(Reformer, ATokenSeesItselfOnlyWhenItIsAlone) {
  torch::manual_seed(9);
  for (int bucket : {4, 64}) {
    const auto attention = in_double(reformer(2, bucket));
    const Heads heads = random_heads(attention->spec(), 24);
    const Tensor row = attention->row(heads, line(24), 5);
    EXPECT_EQ(row.select(-1, 5).abs().max().item<double>(), 0) << bucket;
    EXPECT_LT(absolute_error(row.sum(-1), torch::ones({2, 2}, torch::kFloat64)), 1e-9) << bucket;
  }
  const auto attention = in_double(reformer(2, 4));
  const Heads one = random_heads(attention->spec(), 1);
  EXPECT_TRUE(torch::equal(attention->mix(one, line(1)), one.v));
  Tokens masked = line(24);  // everybody else is padding
  masked.mask = torch::zeros({2, 24});
  masked.mask.select(1, 7).fill_(1);
  const Heads heads = random_heads(attention->spec(), 24);
  const Tensor y = attention->attend(heads, masked);
  EXPECT_LT(relative_error(y.select(2, 7), heads.v.select(2, 7)), 1e-12);
}

TEST(Reformer, HashesAlikeInEvaluationAndAnewInTraining) {
  torch::manual_seed(9);
  const auto attention = in_double(reformer(1, 8));
  const Heads heads = random_heads(attention->spec(), 100, 3);
  Tokens tokens = line(100);
  EXPECT_TRUE(torch::equal(attention->mix(heads, tokens), attention->mix(heads, tokens)));
  tokens.training = true;
  EXPECT_FALSE(torch::equal(attention->mix(heads, tokens), attention->mix(heads, tokens)));
}

// Chunks are neighbours around the circle of their own round: the first sees the last one of the
// same round, never of another. With three chunks that is everybody.
TEST(Reformer, TheFirstChunkSeesTheLastOfItsOwnRound) {
  torch::manual_seed(9);
  const auto attention = in_double(reformer(1, 8));
  const Heads heads = random_heads(attention->spec(), 24);
  const Tensor identity = torch::eye(24, torch::kFloat64).expand({2, 2, 24, 24});
  const Tensor seen = attention->mix({heads.q, heads.q, identity}, line(24)) > 0;
  EXPECT_TRUE(torch::equal(seen.sum(-1), torch::full({2, 2, 24}, 15, torch::kInt64)));
}

// ---- Memory

TEST(DenseAttention, OfTooManyTokensIsRefusedBeforeMemoryIsTaken) {
  constexpr int64_t kTokens = 20'000'000;
  const FastPathScope plain(false);  // the kernels build no such matrix
  for (Mechanism mechanism : {Mechanism::kSoftmax, Mechanism::kGaussian, Mechanism::kSoftDense}) {
    const auto attention = test::projected(spec_of(mechanism));
    const Tensor q = torch::ones({1}).expand({1, 2, kTokens, 16});  // one number seen many times
    const std::string message = test::error_of([&] { attention->mix({q, q, q}, line(kTokens)); });
    EXPECT_THAT(message, testing::HasSubstr("20000000 tokens")) << name_of(mechanism);
    EXPECT_THAT(message, testing::HasSubstr("available")) << name_of(mechanism);
  }
}

}  // namespace
}  // namespace soft
