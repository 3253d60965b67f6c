// Every mechanism x sampler x inverse x {2-D, 1-D} x {mask, none}: what cannot be built is refused
// with a reason, and everything else has the properties that hold for all.
#include <tuple>

#include "attention/attention.h"
#include "attention/projected.h"
#include "base/error.h"
#include "support/tensors.h"

namespace soft {
namespace {

using test::all_finite;
using test::relative_error;
using torch::Tensor;

struct Case {
  AttentionSpec spec;
  bool masked = false;
  std::string name;
};

AttentionSpec small_spec(Mechanism mechanism, bool sequence) {
  AttentionSpec spec;
  spec.mechanism = mechanism;
  spec.heads = 2;
  spec.dim = 16;
  spec.ratio = 2;
  spec.value_kernel = 3;
  spec.sequence = sequence;
  spec.inverse = default_inverse(mechanism);
  return spec;
}

std::string case_name(const AttentionSpec& spec, bool masked) {
  const char* few = spec.bucket_size == 4 ? "chunks" : spec.landmarks > 0 ? "fixed" : "ratio";
  std::string name = fmt::format("{}_{}_{}_{}_{}_{}", name_of(spec.mechanism),
                                 name_of(spec.sampler), name_of(spec.inverse),
                                 spec.sequence ? "1d" : "2d", few, masked ? "mask" : "nomask");
  if (spec.normalise != Normalise::kNone) name += fmt::format("_{}", name_of(spec.normalise));
  if (spec.kernel_scale != KernelScale::kReleased) name += "_paper";
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  const auto add = [&](const AttentionSpec& spec) {
    for (bool masked : {false, true}) cases.push_back({spec, masked, case_name(spec, masked)});
  };
  for (size_t mechanism = 0; mechanism < names_of(Mechanism{}).size(); ++mechanism) {
    for (bool sequence : {false, true}) {
      AttentionSpec spec = small_spec(static_cast<Mechanism>(mechanism), sequence);
      if (!uses_landmarks(spec.mechanism)) {
        add(spec);
        spec.landmarks = 4;
        if (shortens_keys(spec.mechanism)) add(spec);
        spec.landmarks = 0;
        spec.bucket_size = 4;  // six or nine chunks instead of one
        if (spec.mechanism == Mechanism::kReformer) add(spec);
        continue;
      }
      for (size_t sampler = 0; sampler < names_of(Sampler{}).size(); ++sampler) {
        for (size_t inverse = 0; inverse < names_of(Inverse{}).size(); ++inverse) {
          for (int landmarks : {0, 4}) {
            spec.sampler = static_cast<Sampler>(sampler);
            spec.inverse = static_cast<Inverse>(inverse);
            spec.landmarks = landmarks;
            add(spec);
          }
        }
      }
    }
  }
  // Scale and normalisation of the landmarks' kernels, beside each other and with both samplers.
  for (size_t form = 0; form < names_of(Normalise{}).size(); ++form) {
    for (const bool sequence : {false, true}) {
      for (const Sampler sampler : {Sampler::kConv, Sampler::kAvg}) {
        AttentionSpec spec = small_spec(Mechanism::kSoft, sequence);
        spec.normalise = static_cast<Normalise>(form);
        spec.kernel_scale = KernelScale::kPaper;
        spec.sampler = sampler;
        add(spec);
        spec.kernel_scale = KernelScale::kReleased;
        if (spec.normalise != Normalise::kNone) add(spec);
      }
    }
  }
  return cases;
}

class EveryAttention : public testing::TestWithParam<Case> {
 protected:
  EveryAttention() {
    torch::manual_seed(11);
    attention_ = test::projected(GetParam().spec);
    attention_->to(torch::kFloat64);
    attention_->eval();
    tokens_.grid = GetParam().spec.sequence ? Grid{23, 1} : Grid{5, 7};  // divides nothing
    const int64_t n = tokens_.count();
    if (GetParam().masked) {
      tokens_.mask = torch::ones({kBatch, n});
      tokens_.mask[1].narrow(0, n - 6, 6).zero_();
      tokens_.mask[0][3] = 0;
    }
    x_ = torch::randn({kBatch, n, GetParam().spec.dim}, torch::kFloat64);
    heads_ = attention_->project(x_);
  }

  static constexpr int64_t kBatch = 3;
  std::shared_ptr<test::Projected> attention_;
  Tokens tokens_;
  Tensor x_;
  Heads heads_;
};

TEST_P(EveryAttention, KeepsTheShapeAndIsFinite) {
  const Tensor y = attention_->forward(x_, tokens_);
  EXPECT_EQ(y.sizes(), x_.sizes());
  EXPECT_TRUE(all_finite(y));
}

TEST_P(EveryAttention, IsLinearInItsValues) {
  const torch::NoGradGuard no_grad;
  const auto with_values = [&](const Tensor& v) {
    return attention_->attend({heads_.q, heads_.k, v}, tokens_);
  };
  const Tensor other = torch::randn_like(heads_.v);
  const Tensor expected = 2 * with_values(heads_.v) - 3 * with_values(other);
  EXPECT_LT(relative_error(with_values(2 * heads_.v - 3 * other), expected), 1e-9);
}

TEST_P(EveryAttention, GivesTheRowsOfItsDenseMatrix) {
  const int64_t n = tokens_.count();
  const torch::NoGradGuard no_grad;
  for (const auto& item : attention_->named_parameters()) {
    if (item.key() == "attn.conv.weight") item.value().zero_();  // the value path
  }
  // Columns of the matrix: one unit vector as value at a time.
  const Tensor identity =
      torch::eye(n, heads_.q.options()).expand({kBatch, GetParam().spec.heads, n, n});
  const Tensor dense = attention_->attend({heads_.q, heads_.k, identity}, tokens_);  // [B, h, n, n]
  for (const int64_t query : {int64_t{4}, n - 1}) {  // the last one may be padding
    const Tensor row = attention_->row(heads_, tokens_, query);
    EXPECT_LE((row - dense.select(2, query)).abs().max().item<double>(),
              1e-9 * dense.abs().max().item<double>());
  }
}

TEST_P(EveryAttention, TreatsEachSampleAsIfItWereAlone) {
  const Tensor together = attention_->forward(x_, tokens_);
  for (int64_t i = 0; i < kBatch; ++i) {
    Tokens alone = tokens_;
    if (tokens_.mask.defined()) alone.mask = tokens_.mask.narrow(0, i, 1);
    const Tensor y = attention_->forward(x_.narrow(0, i, 1), alone);
    EXPECT_LT(relative_error(y, together.narrow(0, i, 1)), 1e-9);
  }
}

TEST_P(EveryAttention, HasFiniteGradientsForEveryParameter) {
  attention_->forward(x_, tokens_).square().sum().backward();
  for (const auto& item : attention_->named_parameters()) {
    ASSERT_TRUE(item.value().grad().defined()) << item.key();
    EXPECT_TRUE(all_finite(item.value().grad())) << item.key();
  }
}

TEST_P(EveryAttention, StaysFiniteForEqualTokensAndForHugeOnes) {
  for (const Tensor& x : {torch::full_like(x_, 0.5), torch::zeros_like(x_), 100 * x_}) {
    const Tensor input = x.clone().requires_grad_(true);
    const Tensor y = attention_->forward(input, tokens_);
    EXPECT_TRUE(all_finite(y));
    EXPECT_TRUE(all_finite(torch::autograd::grad({y.square().sum()}, {input})[0]));
  }
}

TEST_P(EveryAttention, IgnoresWhatItMasks) {
  if (!GetParam().masked) {
    Tokens all_real = tokens_;
    all_real.mask = torch::ones({kBatch, tokens_.count()});
    EXPECT_LT(
        relative_error(attention_->attend(heads_, all_real), attention_->attend(heads_, tokens_)),
        1e-12);
    return;
  }
  const Tensor padding = tokens_.mask.logical_not().unsqueeze(1).unsqueeze(-1);
  const auto disturbed = [&](const Tensor& t) { return t.masked_fill(padding, 1e3); };
  Heads other{disturbed(heads_.q), {}, disturbed(heads_.v)};
  other.k = heads_.k.is_same(heads_.q) ? other.q : disturbed(heads_.k);
  const Tensor y = attention_->attend(heads_, tokens_);
  EXPECT_TRUE(torch::equal(attention_->attend(other, tokens_), y));
  EXPECT_TRUE(torch::equal(y.masked_fill(padding.logical_not(), 0), torch::zeros_like(y)));
}

TEST_P(EveryAttention, TakesAClassTokenThatIsBothQueryAndKey) {
  if (GetParam().masked || GetParam().spec.sequence) return;  // pictures have class tokens
  Tokens tokens = tokens_;
  tokens.prefix = 1;
  const Tensor x = torch::randn({kBatch, tokens.count(), GetParam().spec.dim}, torch::kFloat64);
  EXPECT_TRUE(all_finite(attention_->forward(x, tokens)));
  const Tensor row = attention_->row(attention_->project(x), tokens, 0);
  EXPECT_EQ(row.sizes(), at::IntArrayRef({kBatch, GetParam().spec.heads, tokens.count()}));
}

INSTANTIATE_TEST_SUITE_P(Cross, EveryAttention, testing::ValuesIn(all_cases()),
                         [](const auto& info) { return info.param.name; });

// The combinations that are refused, and why (docs/architecture.md lists them).
TEST(Refusals, NameTheReason) {
  AttentionSpec spec = small_spec(Mechanism::kSoft, false);
  spec.landmarks = 5;
  EXPECT_THAT(test::error_of([&] { test::projected(spec); }), testing::HasSubstr("not a square"));
  spec = small_spec(Mechanism::kSoft, false);
  spec.inverse = Inverse::kExact;
  spec.inverse_grad = InverseGrad::kUnrolled;
  EXPECT_THAT(test::error_of([&] { test::projected(spec); }), testing::HasSubstr("unroll"));
  spec = small_spec(Mechanism::kSoftmax, false);
  spec.heads = 3;
  EXPECT_THAT(test::error_of([&] { test::projected(spec); }), testing::HasSubstr("3 heads"));
  spec = small_spec(Mechanism::kGaussian, false);
  spec.value_kernel = 4;
  EXPECT_THAT(test::error_of([&] { test::projected(spec); }), testing::HasSubstr("odd"));
}

}  // namespace
}  // namespace soft
