// The mechanisms against numbers of an independent reference that agrees with the released code.
#include <array>
#include <cmath>

#include "attention/attention.h"
#include "attention/inverse.h"
#include "attention/kernel.h"
#include "attention/projected.h"
#include "attention/sampler.h"
#include "support/tensors.h"

namespace soft {
namespace {

using test::absolute_error;
using test::golden_tensors;
using test::relative_error;
using test::Tensors;
using torch::Tensor;

AttentionSpec soft_spec(int heads, int ratio, int value_kernel) {
  AttentionSpec spec;
  spec.heads = heads;
  spec.dim = 32 * heads;
  spec.ratio = ratio;
  spec.value_kernel = value_kernel;
  return spec;
}

std::shared_ptr<test::Projected> golden_attention(const AttentionSpec& spec,
                                                  const Tensors& golden) {
  auto attention = test::projected(spec);
  test::load_parameters(*attention, golden, "weight.");
  for (auto& item :
       attention->named_parameters()) {  // "attn.conv.weight" here, "conv.weight" there
    const auto found = golden.find("weight." + item.key().substr(item.key().find('.') + 1));
    const torch::NoGradGuard no_grad;
    if (item.key().rfind("attn.", 0) == 0) item.value().copy_(found->second);
  }
  return attention;
}

Tokens grid_tokens(int64_t h, int64_t w) {
  Tokens tokens;
  tokens.grid = {h, w};
  return tokens;
}

TEST(GoldenAttention, SoftAtRatioFourEqualsTheReference) {
  const Tensors golden = golden_tensors("attention_r4.safetensors");
  const auto attention = golden_attention(soft_spec(3, 4, 5), golden);
  const Heads heads{golden.at("q"), golden.at("q"), golden.at("v")};
  EXPECT_LT(relative_error(attention->mix(heads, grid_tokens(12, 16)), golden.at("mix")), 1e-4);
  EXPECT_LT(relative_error(attention->attend(heads, grid_tokens(12, 16)), golden.at("y")), 1e-4);
}

TEST(GoldenAttention, EachStepOfSoftEqualsTheReference) {
  const Tensors golden = golden_tensors("attention_r4.safetensors");
  const AttentionSpec spec = soft_spec(3, 4, 0);
  torch::nn::Module owner;
  const LandmarkSampler sampler(spec, owner);
  test::load_parameters(owner, golden, "weight.");
  const Tensor q = scaled(golden.at("q"));
  const Tensor landmarks = sampler.sample(golden.at("q"), grid_tokens(12, 16)).tokens;
  EXPECT_LT(relative_error(landmarks, golden.at("landmarks")), 1e-4);
  EXPECT_LT(relative_error(gaussian(q, landmarks), golden.at("cross")), 1e-4);
  const Tensor core = gaussian_self(landmarks);
  EXPECT_LT(relative_error(core, golden.at("a")), 1e-4);
  InverseRule options;
  EXPECT_LT(relative_error(inverse(core, options), golden.at("newton")), 1e-3);
  options.mode = Inverse::kNewtonAdaptive;
  EXPECT_LT(relative_error(inverse(core, options), golden.at("newton_adaptive")), 1e-3);
}

// Y of the second head at (token, channel) (0, 0), (37, 5), (100, 17) and (191, 31), from the
// landmarks of the reference by the equations of docs/forms.md, in double and in another language.
struct FormNumbers {
  KernelScale scale;
  Normalise normalise;
  std::array<double, 4> y;
};

constexpr FormNumbers kFormNumbers[] = {
    {KernelScale::kReleased, Normalise::kRows, {-0.1364986, -0.0481575, -0.07496922, -0.02369773}},
    {KernelScale::kReleased,
     Normalise::kMean,
     {-0.01375475, -0.007638545, -0.005965299, -0.001959125}},
    {KernelScale::kPaper, Normalise::kNone, {-3.244789, -1.494367, -1.625269, -0.5147939}},
    {KernelScale::kPaper, Normalise::kRows, {-0.1201083, -0.04408707, -0.0739259, -0.02324388}},
    {KernelScale::kPaper,
     Normalise::kMean,
     {-0.01689994, -0.007783163, -0.00846494, -0.002681218}}};

TEST(GoldenAttention, EveryFormOfSoftEqualsTheReference) {
  const Tensors golden = golden_tensors("attention_r4.safetensors");
  const torch::NoGradGuard no_grad;
  for (const FormNumbers& expected : kFormNumbers) {
    AttentionSpec spec = soft_spec(3, 4, 5);
    spec.kernel_scale = expected.scale;
    spec.normalise = expected.normalise;
    const auto attention = golden_attention(spec, golden);
    for (const auto type : {torch::kFloat32, torch::kFloat64}) {  // fused and plain
      attention->to(type);
      const Tensor q = golden.at("q").to(type), v = golden.at("v").to(type);
      const Tensor y = attention->mix({q, q, v}, grid_tokens(12, 16))[0][1];
      const double got[] = {y[0][0].item<double>(), y[37][5].item<double>(),
                            y[100][17].item<double>(), y[191][31].item<double>()};
      for (int i = 0; i < 4; ++i) {
        EXPECT_NEAR(got[i], expected.y[i], 2e-4 * std::abs(expected.y[i]))
            << name_of(expected.scale) << " " << name_of(expected.normalise) << " " << i;
      }
    }
  }
}

TEST(GoldenAttention, NormalisedSoftEqualsTheReference) {
  const Tensors golden = golden_tensors("attention_r2_norm.safetensors");
  AttentionSpec spec = soft_spec(2, 2, 3);
  spec.mechanism = Mechanism::kSoftNorm;
  spec.inverse = Inverse::kNewtonAdaptive;
  const auto attention = golden_attention(spec, golden);
  const Heads heads{golden.at("q"), golden.at("q"), golden.at("v")};
  EXPECT_LT(relative_error(attention->mix(heads, grid_tokens(8, 10)), golden.at("mix")), 1e-4);
  EXPECT_LT(relative_error(attention->attend(heads, grid_tokens(8, 10)), golden.at("y")), 1e-4);
}

TEST(GoldenAttention, GradientsEqualTheReference) {
  const Tensors golden = golden_tensors("attention_grad.safetensors");
  const auto attention = golden_attention(soft_spec(2, 4, 5), golden);
  const Tensor q = golden.at("q").clone().requires_grad_(true);
  const Tensor v = golden.at("v").clone().requires_grad_(true);
  const Tensor y = attention->attend({q, q, v}, grid_tokens(8, 12));
  EXPECT_LT(relative_error(y, golden.at("y")), 1e-4);
  y.backward(golden.at("grad_y"));
  EXPECT_LT(relative_error(q.grad(), golden.at("grad_q")), 1e-3);
  EXPECT_LT(relative_error(v.grad(), golden.at("grad_v")), 1e-3);
  for (const auto& item : attention->named_parameters()) {
    if (item.key().rfind("attn.", 0) != 0) continue;
    const Tensor& expected = golden.at("grad." + item.key().substr(5));
    EXPECT_LT(relative_error(item.value().grad(), expected), 1e-3) << item.key();
  }
}

struct Mixing {
  const char* name;
  Mechanism mechanism;
  Sampler sampler;
};

class GoldenMixing : public testing::TestWithParam<Mixing> {};

TEST_P(GoldenMixing, EqualsTheReference) {
  const Tensors golden = golden_tensors("samplers.safetensors");
  AttentionSpec spec = soft_spec(3, 4, 0);
  spec.mechanism = GetParam().mechanism;
  spec.sampler = GetParam().sampler;
  const Heads heads{golden.at("q"), golden.at("q"), golden.at("v")};
  const Tensor y = test::projected(spec)->mix(heads, grid_tokens(12, 16));
  EXPECT_LT(relative_error(y, golden.at(GetParam().name)), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Samplers, GoldenMixing,
                         testing::Values(Mixing{"avg", Mechanism::kSoft, Sampler::kAvg},
                                         Mixing{"biased", Mechanism::kSoft, Sampler::kBiased},
                                         Mixing{"gaussian", Mechanism::kGaussian, Sampler::kConv},
                                         Mixing{"gaussian_softmax", Mechanism::kGaussianSoftmax,
                                                Sampler::kConv}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(GoldenAttention, SoftmaxEqualsTheReferenceWithAndWithoutMask) {
  const Tensors golden = golden_tensors("rivals.safetensors");
  AttentionSpec spec = soft_spec(2, 1, 0);
  spec.mechanism = Mechanism::kSoftmax;
  spec.sequence = true;
  const auto attention = test::projected(spec);
  const Heads heads{golden.at("q"), golden.at("k"), golden.at("v")};
  Tokens tokens = grid_tokens(128, 1);
  EXPECT_LT(relative_error(attention->attend(heads, tokens), golden.at("softmax")), 1e-4);
  tokens.mask = golden.at("mask");
  const Tensor real = golden.at("mask").unsqueeze(1).unsqueeze(-1);  // masked queries give 0 here
  EXPECT_LT(relative_error(attention->attend(heads, tokens), golden.at("softmax_masked") * real),
            1e-4);
}

// Rivals on the reference's q, k and v, with the reference's own projections.
class GoldenRival : public testing::Test {
 protected:
  Tensor mixed(AttentionSpec spec, const std::string& projection = "") {
    spec.sequence = true;
    const auto attention = test::projected(spec);
    const torch::NoGradGuard no_grad;
    if (spec.mechanism == Mechanism::kLinformer) {
      attention->named_parameters()["attn.E"].copy_(golden_.at(projection));
    } else if (!projection.empty()) {
      attention->named_buffers()["attn.omega"].copy_(golden_.at(projection));
    }
    return attention->attend({golden_.at("q"), golden_.at("k"), golden_.at("v")},
                             grid_tokens(128, 1));
  }

  static AttentionSpec spec_of(Mechanism mechanism) {
    AttentionSpec spec = soft_spec(2, 1, 0);
    spec.mechanism = mechanism;
    return spec;
  }

  const Tensors golden_ = golden_tensors("rivals.safetensors");
};

TEST_F(GoldenRival, LinformerEqualsTheReference) {
  AttentionSpec spec = spec_of(Mechanism::kLinformer);
  spec.projection = 16;
  spec.longest = 128;
  EXPECT_LT(relative_error(mixed(spec, "linformer_e"), golden_.at("linformer")), 1e-4);
}

TEST_F(GoldenRival, PerformerEqualsTheReference) {
  AttentionSpec spec = spec_of(Mechanism::kPerformer);
  spec.features = 110;
  EXPECT_LT(relative_error(mixed(spec, "performer_w"), golden_.at("performer")), 1e-4);
}

TEST_F(GoldenRival, NystromformerEqualsTheReference) {
  AttentionSpec spec = spec_of(Mechanism::kNystromformer);
  spec.landmarks = 16;
  EXPECT_LT(relative_error(mixed(spec), golden_.at("nystrom_m16")), 1e-4);
}

TEST_F(GoldenRival, ReformerWithOneBucketEqualsTheReference) {
  AttentionSpec spec = spec_of(Mechanism::kReformer);
  spec.bucket_size = 128;
  const auto attention = test::projected(spec);
  const Heads heads{golden_.at("q"), golden_.at("q"), golden_.at("v")};
  EXPECT_LT(
      relative_error(attention->mix(heads, grid_tokens(128, 1)), golden_.at("reformer_one_bucket")),
      1e-4);
}

class GoldenInverse : public testing::TestWithParam<int> {};

TEST_P(GoldenInverse, EqualsTheReferenceInDoublePrecision) {
  const Tensors golden = golden_tensors("newton.safetensors");
  const std::string which = std::to_string(GetParam());
  const Tensor a = golden.at("a" + which);
  InverseRule options;
  EXPECT_LT(absolute_error(inverse(a, options), golden.at("newton" + which)), 1e-3);
  options.mode = Inverse::kNewtonAdaptive;
  EXPECT_LT(absolute_error(inverse(a, options), golden.at("adaptive" + which)), 1e-3);
  options.mode = Inverse::kExact;
  EXPECT_LT(absolute_error(inverse(a, options), golden.at("exact" + which)), 1e-2);
}

INSTANTIATE_TEST_SUITE_P(Spreads, GoldenInverse, testing::Range(0, 5));

}  // namespace
}  // namespace soft
