// Padding: neither its content nor its amount changes a bit of the real tokens' result.
#include "attention/attention.h"
#include "attention/projected.h"
#include "support/tensors.h"

namespace soft {
namespace {

using torch::Tensor;

AttentionSpec sequence_spec(Mechanism mechanism, Sampler sampler, int landmarks) {
  AttentionSpec spec;
  spec.mechanism = mechanism;
  spec.sampler = sampler;
  spec.landmarks = landmarks;
  spec.heads = 2;
  spec.dim = 64;
  spec.ratio = 4;
  spec.value_kernel = 5;
  spec.bucket_size = 8;
  spec.sequence = true;
  spec.inverse = default_inverse(mechanism);
  return spec;
}

class Padding : public testing::TestWithParam<std::tuple<Mechanism, Sampler, int>> {
 protected:
  static AttentionSpec spec() {
    const auto [mechanism, sampler, landmarks] = GetParam();
    return sequence_spec(mechanism, sampler, landmarks);
  }
};

Heads random_heads(const AttentionSpec& spec, int64_t batch, int64_t n) {
  const Tensor q = torch::randn({batch, spec.heads, n, spec.head_dim()});
  const Tensor k = shares_query_and_key(spec.mechanism) ? q : torch::randn_like(q);
  return {q, k, torch::randn_like(q)};
}

Heads padded(const Heads& heads, int64_t more) {
  const auto pad = [&](const Tensor& t) { return torch::constant_pad_nd(t, {0, 0, 0, more}, 9.0); };
  const Tensor q = pad(heads.q);
  return {q, heads.k.is_same(heads.q) ? q : pad(heads.k), pad(heads.v)};
}

TEST_P(Padding, AddedAtTheEndChangesNoBit) {
  torch::manual_seed(2);
  const auto attention = test::projected(spec());
  const torch::NoGradGuard no_grad;
  for (int64_t n : {1, 3, 10, 29}) {
    const Heads heads = random_heads(spec(), 2, n);
    Tokens tokens;
    tokens.grid = {n, 1};
    tokens.mask = torch::ones({2, n});
    const Tensor expected = attention->attend(heads, tokens);
    for (int64_t more : {1, 2, 7, 64}) {
      Tokens longer = tokens;
      longer.grid = {n + more, 1};
      longer.mask = torch::constant_pad_nd(tokens.mask, {0, more});
      const Tensor y = attention->attend(padded(heads, more), longer);
      EXPECT_TRUE(torch::equal(y.narrow(2, 0, n), expected)) << n << " + " << more;
      EXPECT_EQ(y.narrow(2, n, more).abs().max().item<float>(), 0);
    }
  }
}

TEST_P(Padding, OfAWholeSequenceGivesZerosAndZeroGradients) {
  torch::manual_seed(2);
  const auto attention = test::projected(spec());
  Heads heads = random_heads(spec(), 2, 12);
  heads.v.requires_grad_(true);
  Tokens tokens;
  tokens.grid = {12, 1};
  tokens.mask = torch::ones({2, 12});
  tokens.mask[1].zero_();
  const Tensor y = attention->attend(heads, tokens);
  EXPECT_EQ(y[1].abs().max().item<float>(), 0);
  const Tensor gradient = torch::autograd::grad({y.sum()}, {heads.v})[0];
  EXPECT_TRUE(test::all_finite(gradient));
  EXPECT_EQ(gradient[1].abs().max().item<float>(), 0);
}

INSTANTIATE_TEST_SUITE_P(Sequences, Padding,
                         testing::Values(std::tuple{Mechanism::kSoft, Sampler::kConv, 0},
                                         std::tuple{Mechanism::kSoft, Sampler::kConv, 8},
                                         std::tuple{Mechanism::kSoft, Sampler::kAvg, 0},
                                         std::tuple{Mechanism::kSoft, Sampler::kAvg, 8},
                                         std::tuple{Mechanism::kSoft, Sampler::kRandom, 0},
                                         std::tuple{Mechanism::kSoft, Sampler::kBiased, 8},
                                         std::tuple{Mechanism::kSoftNorm, Sampler::kConv, 0},
                                         std::tuple{Mechanism::kSoftDense, Sampler::kConv, 0},
                                         std::tuple{Mechanism::kSoftmax, Sampler::kConv, 0},
                                         std::tuple{Mechanism::kGaussian, Sampler::kConv, 0},
                                         std::tuple{Mechanism::kGaussianSoftmax, Sampler::kConv, 0},
                                         std::tuple{Mechanism::kLinformer, Sampler::kConv, 0},
                                         std::tuple{Mechanism::kPerformer, Sampler::kConv, 0},
                                         std::tuple{Mechanism::kNystromformer, Sampler::kConv, 0},
                                         std::tuple{Mechanism::kNystromformer, Sampler::kConv, 8},
                                         std::tuple{Mechanism::kReformer, Sampler::kConv, 0}));

TEST(Mask, OfTheWrongShapeIsRefused) {
  const auto attention = test::projected(sequence_spec(Mechanism::kSoft, Sampler::kConv, 0));
  Tokens tokens;
  tokens.grid = {8, 1};
  tokens.mask = torch::ones({2, 9});
  const Heads heads = random_heads(attention->spec(), 2, 8);
  EXPECT_THAT(test::error_of([&] { attention->attend(heads, tokens); }),
              testing::HasSubstr("mask must be [2, 8]"));
}

}  // namespace
}  // namespace soft
