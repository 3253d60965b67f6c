// Softmax by tiles against the plain tensor expression beside it: values, gradients, masks, memory.
#include "attention/fused_softmax.h"

#include "attention/both_ways.h"
#include "attention/fast_path.h"
#include "attention/weight_dropout.h"
#include "support/tensors.h"

namespace soft {
namespace {

using torch::Tensor;

struct Shape {
  Grid grid;
  int heads, dim;
  bool sequence, masked;
};

AttentionSpec spec_of(const Shape& shape) {
  AttentionSpec spec;
  spec.mechanism = Mechanism::kSoftmax;
  spec.heads = shape.heads;
  spec.dim = shape.heads * shape.dim;
  spec.sequence = shape.sequence;
  return spec;
}

class FusedSoftmax : public testing::TestWithParam<Shape> {};

TEST_P(FusedSoftmax, EqualsThePlainExpressionInValueAndGradient) {
  const Shape& shape = GetParam();
  torch::manual_seed(3);
  const auto attention = test::projected(spec_of(shape));
  const Tensor x = 2 * torch::randn({2, shape.grid.size(), shape.heads * shape.dim});
  const test::BothWays ways =
      test::both_ways(*attention, FastPath::kSoftmax, x, test::tokens_of(shape.grid, shape.masked));
  EXPECT_LT(test::relative_error(ways.fused.y, ways.exact.y), 1e-5);
  for (size_t i = 0; i < ways.exact.gradients.size(); ++i) {
    const double scale = std::max(ways.exact.gradients[i].abs().max().item<double>(), 1.0);
    EXPECT_LT(test::absolute_error(ways.fused.gradients[i], ways.exact.gradients[i]), 2e-5 * scale)
        << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, FusedSoftmax,
    testing::Values(Shape{{1, 1}, 1, 32, false, false}, Shape{{7, 9}, 2, 32, false, false},
                    Shape{{16, 17}, 3, 20, false, false}, Shape{{14, 14}, 2, 64, false, true},
                    Shape{{301, 1}, 2, 32, true, true}, Shape{{33, 1}, 1, 7, true, true}));

TEST(FusedSoftmaxGradient, IsFiniteWhereQueriesAreKeysAndValues) {
  const int64_t n = 3000;
  const Tensor q = torch::randn({1, 1, n, 8}).requires_grad_(true);
  const Tensor y = fused_softmax({q, q, q}, {});
  EXPECT_EQ(y.sizes(), q.sizes());
  y.sum().backward();
  EXPECT_TRUE(test::all_finite(q.grad()));
}

TEST(FusedSoftmaxDropout, KeepsTheMeanAndDrawsTheSameForTheSameSeed) {
  torch::manual_seed(4);
  const torch::NoGradGuard no_grad;
  const Tensor q = torch::randn({2, 2, 40, 8}), v = torch::ones({2, 2, 40, 8});
  const Heads heads{q, q, v};
  const Tensor once = fused_softmax(heads, {}, {0.3, 5});
  EXPECT_TRUE(torch::equal(once, fused_softmax(heads, {}, {0.3, 5})));
  EXPECT_FALSE(torch::equal(once, fused_softmax(heads, {}, {0.3, 6})));
  EXPECT_FALSE(torch::equal(once[0], once[1]));  // heads draw for themselves
  EXPECT_NEAR(once.mean().item<double>(), 1, 0.1);
}

TEST(FusedSoftmaxDropout, FollowsTheScopeOfATrainingPassAlone) {
  torch::manual_seed(4);
  const torch::NoGradGuard no_grad;
  const auto attention = make_attention(spec_of({{9, 1}, 2, 8, true, false}));
  const Tensor q = torch::randn({1, 2, 9, 8});
  Tokens tokens;
  tokens.grid = {9, 1};
  const Tensor whole = attention->mix({q, q, q}, tokens);
  const WeightDropoutScope scope(0.5);
  EXPECT_TRUE(torch::equal(attention->mix({q, q, q}, tokens), whole));  // evaluation
  tokens.training = true;
  const Tensor once = attention->mix({q, q, q}, tokens);
  EXPECT_FALSE(torch::equal(once, whole));
  EXPECT_FALSE(torch::equal(attention->mix({q, q, q}, tokens), once));  // another draw
}

}  // namespace
}  // namespace soft
