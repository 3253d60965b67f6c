// Gradients in double: by finite differences where the inverse has converged (well separated
// landmarks), and against autograd through every step otherwise.
#include "attention/attention.h"
#include "attention/projected.h"
#include "support/tensors.h"

namespace soft {
namespace {

using test::relative_error;
using torch::Tensor;

struct Case {
  Mechanism mechanism;
  Sampler sampler;
  bool sequence;
  Normalise normalise = Normalise::kNone;
  KernelScale scale = KernelScale::kReleased;
};

AttentionSpec spec_of(const Case& c) {
  AttentionSpec spec;
  spec.mechanism = c.mechanism;
  spec.sampler = c.sampler;
  spec.sequence = c.sequence;
  spec.heads = 2;
  spec.dim = 16;
  spec.ratio = 2;
  spec.value_kernel = 3;
  spec.bucket_size = 4;
  spec.inverse = default_inverse(c.mechanism);
  spec.normalise = c.normalise;
  spec.kernel_scale = c.scale;
  return spec;
}

Tokens tokens_of(const Case& c) {
  Tokens tokens;
  tokens.grid = c.sequence ? Grid{9, 1} : Grid{4, 5};
  return tokens;
}

class Gradient : public testing::TestWithParam<Case> {
 protected:
  Gradient() : tokens_(tokens_of(GetParam())) {
    torch::manual_seed(7);
    attention_ = test::projected(spec_of(GetParam()));
    attention_->to(torch::kFloat64);
    x_ = torch::randn({2, tokens_.count(), 16}, torch::kFloat64);
    weights_ = torch::randn_like(x_);
    // Performer's gradient takes the maximum in its exponent as given; the 1e-4 added afterwards
    // would let some of it through if features were as small as that.
    if (GetParam().mechanism == Mechanism::kPerformer) {
      x_ *= 0.1;
      return;
    }
    // Large projections keep the landmarks apart, so that every inverse converges.
    const torch::NoGradGuard no_grad;
    for (auto& item : attention_->named_parameters()) {
      if (item.key().find("_q.weight") != std::string::npos) item.value().mul_(6);
    }
  }

  Tensor loss() { return (attention_->forward(x_, tokens_) * weights_).sum(); }

  Tokens tokens_;
  std::shared_ptr<test::Projected> attention_;
  Tensor x_, weights_;
};

// The slope of the loss along a random direction in one tensor.
double finite_slope(Tensor tensor, const Tensor& direction, const std::function<Tensor()>& loss) {
  const torch::NoGradGuard no_grad;
  const double step = 1e-6;
  const auto value = [&](double t) {
    tensor.add_(direction, t);
    const double result = loss().item<double>();
    tensor.add_(direction, -t);
    return result;
  };
  return (value(step) - value(-step)) / (2 * step);
}

TEST_P(Gradient, AgreesWithFiniteDifferencesInEveryTensor) {
  x_.requires_grad_(true);
  loss().backward();
  std::vector<std::pair<std::string, Tensor>> tensors{{"x", x_}};
  for (const auto& item : attention_->named_parameters())
    tensors.emplace_back(item.key(), item.value());
  for (auto& [name, tensor] : tensors) {
    const Tensor direction = torch::randn_like(tensor);
    const double slope = finite_slope(tensor, direction, [&] { return loss(); });
    const double claimed = (tensor.grad() * direction).sum().item<double>();
    EXPECT_NEAR(claimed, slope, 2e-4 * (std::abs(slope) + 1)) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Converged, Gradient,
                         testing::Values(Case{Mechanism::kSoft, Sampler::kConv, false},
                                         Case{Mechanism::kSoft, Sampler::kConv, true},
                                         Case{Mechanism::kSoft, Sampler::kAvg, false},
                                         Case{Mechanism::kSoft, Sampler::kAvg, true},
                                         Case{Mechanism::kSoft, Sampler::kRandom, false},
                                         Case{Mechanism::kSoft, Sampler::kBiased, false},
                                         Case{Mechanism::kSoftNorm, Sampler::kConv, false},
                                         Case{Mechanism::kSoftNorm, Sampler::kAvg, false},
                                         Case{Mechanism::kSoftDense, Sampler::kConv, false},
                                         Case{Mechanism::kSoftmax, Sampler::kConv, false},
                                         Case{Mechanism::kGaussian, Sampler::kConv, false},
                                         Case{Mechanism::kGaussianSoftmax, Sampler::kConv, true},
                                         Case{Mechanism::kLinformer, Sampler::kConv, false},
                                         Case{Mechanism::kLinformer, Sampler::kConv, true},
                                         Case{Mechanism::kPerformer, Sampler::kConv, false},
                                         Case{Mechanism::kPerformer, Sampler::kConv, true},
                                         Case{Mechanism::kNystromformer, Sampler::kConv, false},
                                         Case{Mechanism::kNystromformer, Sampler::kConv, true},
                                         Case{Mechanism::kReformer, Sampler::kConv, false},
                                         Case{Mechanism::kReformer, Sampler::kConv, true},
                                         Case{Mechanism::kNone, Sampler::kConv, false}));

std::vector<Case> forms() {
  std::vector<Case> cases;
  for (const Normalise form : {Normalise::kNone, Normalise::kRows, Normalise::kMean}) {
    for (const Sampler sampler : {Sampler::kConv, Sampler::kAvg}) {
      for (const bool sequence : {false, true}) {
        cases.push_back({Mechanism::kSoft, sampler, sequence, form, KernelScale::kPaper});
      }
    }
    cases.push_back({Mechanism::kSoft, Sampler::kConv, false, form, KernelScale::kReleased});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Forms, Gradient, testing::ValuesIn(forms()));

// Far from convergence one-shot and unrolled differ; the unrolled gradient is the true derivative
// there.
TEST(UnrolledGradient, IsTheDerivativeEvenFarFromConvergence) {
  torch::manual_seed(9);
  AttentionSpec spec = spec_of({Mechanism::kSoft, Sampler::kAvg, false});
  spec.inverse_grad = InverseGrad::kUnrolled;
  const auto attention = test::projected(spec);
  attention->to(torch::kFloat64);
  const Tokens tokens = tokens_of({Mechanism::kSoft, Sampler::kAvg, false});
  const Tensor x = (0.1 * torch::randn({1, 20, 16}, torch::kFloat64)).requires_grad_(true);
  const auto loss = [&] { return attention->forward(x, tokens).square().sum(); };
  const Tensor gradient = torch::autograd::grad({loss()}, {x})[0];
  const Tensor direction = torch::randn_like(x);
  const double slope = finite_slope(x, direction, loss);
  EXPECT_NEAR((gradient * direction).sum().item<double>() / slope, 1, 1e-4);
}

}  // namespace
}  // namespace soft
