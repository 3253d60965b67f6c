// The fused path against the plain tensor expression beside it: values, gradients, masks, odd
// shapes.
#include "attention/fused.h"

#include <c10/util/ThreadLocalDebugInfo.h>

#include "attention/both_ways.h"
#include "attention/fast_path.h"
#include "attention/landmark_mix.h"
#include "base/random.h"
#include "kernels/soft_attention.h"
#include "support/tensors.h"

namespace soft {
namespace {

using torch::Tensor;

struct Shape {
  Grid grid;
  int heads, dim, ratio, landmarks;
  Sampler sampler;
  Normalise normalise;
  bool sequence, masked;
  KernelScale scale = KernelScale::kReleased;
};

// A handful of corners, then shapes drawn at random.
std::vector<Shape> shapes() {
  std::vector<Shape> all{
      {{1, 1}, 1, 32, 1, 0, Sampler::kConv, Normalise::kNone, false, false},    // n = 1, m = 1
      {{3, 5}, 2, 32, 3, 0, Sampler::kAvg, Normalise::kNone, false, false},     // m = 1
      {{14, 14}, 3, 32, 2, 0, Sampler::kConv, Normalise::kCore, false, false},  // m = 49
      {{56, 56}, 2, 32, 8, 0, Sampler::kConv, Normalise::kNone, false, false},  // stage 1
      {{1300, 1}, 2, 32, 4, 64, Sampler::kConv, Normalise::kNone, true, true},
      {{56, 56}, 2, 32, 8, 0, Sampler::kConv, Normalise::kRows, false, false, KernelScale::kPaper},
      {{8, 8}, 3, 32, 2, 0, Sampler::kConv, Normalise::kRows, false, false, KernelScale::kPaper},
      {{1, 1}, 1, 32, 1, 0, Sampler::kConv, Normalise::kRows, false, false},
      {{1300, 1}, 2, 32, 4, 64, Sampler::kConv, Normalise::kRows, true, true, KernelScale::kPaper},
  };
  Random random(5);
  constexpr Normalise kForms[] = {Normalise::kNone, Normalise::kCore, Normalise::kRows,
                                  Normalise::kMean};
  for (int i = 0; i < 60; ++i) {
    Shape shape;
    shape.sequence = random.chance(0.4);
    shape.ratio = static_cast<int>(1 + random.below(4));
    const int64_t h = shape.ratio + random.below(20), w = shape.ratio + random.below(20);
    shape.grid = shape.sequence ? Grid{h * 3, 1} : Grid{h, w};
    shape.heads = static_cast<int>(1 + random.below(3));
    // One channel alone normalises to a constant, which makes all landmarks alike.
    shape.dim = random.chance(0.7) ? 32 : static_cast<int>(2 + random.below(40));
    shape.landmarks = random.chance(0.3) && shape.grid.size() >= 4 ? 4 : 0;
    shape.sampler = static_cast<Sampler>(random.below(4));
    shape.normalise = kForms[random.below(4)];
    shape.scale = random.chance(0.5) ? KernelScale::kPaper : KernelScale::kReleased;
    shape.masked = random.chance(0.5);
    all.push_back(shape);
  }
  return all;
}

AttentionSpec spec_of(const Shape& shape) {
  AttentionSpec spec;
  const bool core = shape.normalise == Normalise::kCore;
  spec.mechanism = core ? Mechanism::kSoftNorm : Mechanism::kSoft;
  spec.inverse = default_inverse(spec.mechanism);
  if (!core) spec.normalise = shape.normalise;
  spec.kernel_scale = shape.scale;
  spec.heads = shape.heads;
  spec.dim = shape.heads * shape.dim;
  spec.ratio = shape.ratio;
  spec.landmarks = shape.landmarks;
  spec.sampler = shape.sampler;
  spec.sequence = shape.sequence;
  spec.value_kernel = 3;
  return spec;
}

class Fused : public testing::TestWithParam<Shape> {};

TEST_P(Fused, EqualsThePlainExpressionInValueAndGradient) {
  const Shape& shape = GetParam();
  torch::manual_seed(13);
  const auto attention = test::projected(spec_of(shape));
  const Tensor x = torch::randn({2, shape.grid.size(), shape.heads * shape.dim});
  const test::BothWays ways =
      test::both_ways(*attention, FastPath::kSoft, x, test::tokens_of(shape.grid, shape.masked));
  // Sums of rows that nearly cancel cost plain single precision more than that, too.
  const double limit = std::max(1e-5, 2 * test::relative_error(ways.plain.y, ways.exact.y));
  EXPECT_LT(test::relative_error(ways.fused.y, ways.exact.y), limit);
  double largest = 0;
  for (const Tensor& gradient : ways.exact.gradients) {
    largest = std::max(largest, gradient.abs().max().item<double>());
  }
  for (size_t i = 0; i < ways.exact.gradients.size(); ++i) {
    const Tensor& exact = ways.exact.gradients[i];
    const double scale = exact.abs().max().item<double>();
    // Landmarks that are nearly alike, and rows whose sum is nearly one value, multiply the
    // rounding of plain single precision, too; other orders of summing get up to seven times that.
    // A gradient that cancels (with n = 1 rows that add up to 1 hardly depend on q) is left with
    // the rounding of what it cancels from: 25 units in the last place of the largest.
    const double rounding = test::absolute_error(ways.plain.gradients[i], exact);
    EXPECT_LT(test::absolute_error(ways.fused.gradients[i], exact),
              std::max({1e-4 * scale, 3e-6 * largest, 8 * rounding}))
        << i << " of scale " << scale << ", plain " << rounding;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Fused, testing::ValuesIn(shapes()));

TEST(FusedSoft, GivesTheSameBitsRunAfterRun) {
  torch::manual_seed(1);
  Shape shape{{28, 28}, 4, 32, 4, 0, Sampler::kConv, Normalise::kNone, false, false};
  const auto attention = test::projected(spec_of(shape));
  const torch::NoGradGuard no_grad;
  Tokens tokens;
  tokens.grid = shape.grid;
  const Heads heads = attention->project(torch::randn({2, 784, 128}));
  const Tensor first = attention->mix(heads, tokens);
  for (int again = 0; again < 5; ++again) {
    EXPECT_TRUE(torch::equal(attention->mix(heads, tokens), first));
  }
}

TEST(FusedSoft, LeavesDoubleAndUnrolledGradientsToThePlainExpression) {
  const Tensor q = torch::randn({1, 1, 4, 8});
  const InverseRule rule;
  EXPECT_TRUE(fused_applies({q, q, q}, rule));
  const Tensor wide = q.to(torch::kFloat64);
  EXPECT_FALSE(fused_applies({wide, wide, wide}, rule));
  InverseRule unrolled;
  unrolled.grad = InverseGrad::kUnrolled;
  EXPECT_FALSE(fused_applies({q, q, q}, unrolled));
}

// LibTorch 1.13 counts totals in int64_t, 2.6 in size_t.
template <class Count>
Count count_type(void (c10::MemoryReportingInfoBase::*)(void*, int64_t, Count, Count, c10::Device));
using Total = decltype(count_type(&c10::MemoryReportingInfoBase::reportMemoryUsage));

// Hears of every tensor that LibTorch allocates on this thread.
class LargestTensor : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void* /*ptr*/, int64_t size, Total /*total*/, Total /*reserved*/,
                         c10::Device /*device*/) override {
    bytes = std::max(bytes, size);
  }
  bool memoryProfilingEnabled() const override { return true; }

  int64_t bytes = 0;
};

int64_t largest_tensor(bool fast, Normalise normalise) {
  torch::manual_seed(4);
  const int64_t n = 12544, m = 196, d = 32;
  const Tensor q = torch::randn({1, 1, n, d}).requires_grad_(true);
  const Tensor v = torch::randn({1, 1, n, d}).requires_grad_(true);
  const Landmarks landmarks{torch::randn({1, 1, m, d}).requires_grad_(true), {}};
  const auto listener = std::make_shared<LargestTensor>();
  const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, listener);
  const FastPathScope path(fast);
  SoftRule rule;
  rule.normalise = normalise;
  landmark_mix({q, q, v}, landmarks, rule).sum().backward();
  return listener->bytes / static_cast<int64_t>(sizeof(float)) / n;
}

// A row of 196 floats per token is K1; 32 are q, v and their gradients.
TEST(FusedSoft, NeverAllocatesAnArrayOfTokensTimesLandmarks) {
  for (const Normalise form : {Normalise::kNone, Normalise::kRows}) {
    EXPECT_GE(largest_tensor(false, form), 196);
    EXPECT_LE(largest_tensor(true, form), 33);
  }
}

TEST(FusedSoft, WorksInScratchThatDoesNotGrowWithTheTokens) {
  SoftHead head;
  head.landmarks = 49;
  head.dim = 32;
  head.tokens = 3136;
  const int64_t forward = soft_tile_size(head), backward = soft_backward_size(head);
  head.tokens = 50176;
  EXPECT_EQ(soft_tile_size(head), forward);
  EXPECT_EQ(soft_backward_size(head), backward);
}

}  // namespace
}  // namespace soft
