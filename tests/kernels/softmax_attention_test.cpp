#include "kernels/softmax_attention.h"

#include "kernel_case.h"
#include "kernels/plain/softmax_attention.h"

namespace soft {
namespace {

struct SoftmaxSizes {
  int64_t n, d;
  double size = 1;
  bool masked = false;
};

// Rows of q and k inside wider arrays, and the same in double.
struct SoftmaxCase {
  explicit SoftmaxCase(const SoftmaxSizes& s)
      : n(s.n),
        d(s.d),
        q(test::normal_floats(n * d, 1, s.size)),
        k(test::normal_floats(n * d, 2, s.size)),
        v(test::normal_floats(n * d, 3)),
        q_rows(test::spread(q, n, d, d + 4)),
        k_rows(test::spread(k, n, d, d + 4)) {
    for (int64_t j = 0; s.masked && j < n; ++j) mask.push_back(j % 3 == 1 || j > n - 5 ? 0 : 1);
    if (s.masked) mask[0] = 1;
  }

  SoftmaxHead head() const {
    SoftmaxHead head{n, d, {q_rows.data(), d + 4}, {k_rows.data(), d + 4}, {v.data(), d}, scale()};
    if (!mask.empty()) head.key_mask = mask.data();
    return head;
  }
  float scale() const { return 1 / std::sqrt(static_cast<float>(d)); }

  int64_t n, d;
  std::vector<float> q, k, v, q_rows, k_rows, mask;
};

struct SoftmaxForward {
  std::vector<float> y, log_sums;
};

SoftmaxForward softmax_forward(const SoftmaxHead& head, int64_t stride) {
  SoftmaxForward out{std::vector<float>(head.tokens * stride, 99), std::vector<float>(head.tokens)};
  std::vector<float> scratch(softmax_scratch(head.tokens, head.dim), NAN);
  softmax_attention(head, {out.y.data(), stride}, scratch.data(), out.log_sums.data());
  return out;
}

plain::SoftmaxGradients<float> softmax_backward(const SoftmaxHead& head,
                                                const SoftmaxForward& forward,
                                                const std::vector<float>& grad_y) {
  const int64_t n = head.tokens, d = head.dim;
  plain::SoftmaxGradients<float> out{std::vector<float>(n * d, NAN), std::vector<float>(n * d, NAN),
                                     std::vector<float>(n * d, NAN)};
  std::vector<float> scratch(softmax_backward_scratch(n, d), NAN);
  softmax_attention_backward(head,
                             {forward.log_sums.data(),
                              {forward.y.data(), d},
                              {grad_y.data(), d},
                              {out.q.data(), d},
                              {out.k.data(), d},
                              {out.v.data(), d}},
                             scratch.data());
  return out;
}

void check_softmax(const SoftmaxSizes& setup) {
  SCOPED_TRACE(testing::Message() << setup.n << " tokens, dim " << setup.d << ", size "
                                  << setup.size << (setup.masked ? ", masked" : ""));
  const SoftmaxCase f(setup);
  const int64_t n = f.n, d = f.d, stride = d + 4;
  const SoftmaxForward result = softmax_forward(f.head(), stride);
  std::vector<double> expected(n * d);
  plain::softmax_attention<double>(n, d, f.scale(), test::doubles(f.q).data(),
                                   test::doubles(f.k).data(), test::doubles(f.v).data(),
                                   expected.data(), test::doubles(f.mask));
  ASSERT_LT(test::distance(result.y, expected, d, stride), 1e-5 * (1 + setup.size * setup.size));
  ASSERT_EQ(result.y[d], 99);
}

void check_softmax_gradient(const SoftmaxSizes& setup) {
  SCOPED_TRACE(testing::Message() << setup.n << " tokens, dim " << setup.d
                                  << (setup.masked ? ", masked" : ""));
  const SoftmaxCase f(setup);
  const int64_t n = f.n, d = f.d;
  const auto grad_y = test::normal_floats(n * d, 4);
  const auto result = softmax_backward(f.head(), softmax_forward(f.head(), d), grad_y);
  const auto expected = plain::softmax_attention_backward<double>(
      n, d, f.scale(), test::doubles(f.q).data(), test::doubles(f.k).data(),
      test::doubles(f.v).data(), test::doubles(grad_y).data(), test::doubles(f.mask));
  const auto close = [](const std::vector<float>& a, const std::vector<double>& b) {
    return test::distance(a, b) / (0.1 + test::largest_of(b));  // one token's are all rounding
  };
  ASSERT_LT(close(result.q, expected.q), 1e-5);
  ASSERT_LT(close(result.k, expected.k), 1e-5);
  ASSERT_LT(close(result.v, expected.v), 1e-5);
}

// Fewer keys than queries are the same as keys that are masked; the bits of a query do not depend
// on which others are asked with it.
TEST(SoftmaxAttention, QueriesMayBeMoreOrFewerThanKeys) {
  constexpr int64_t kTokens = 197, kKeys = 49, kDim = 32, kFirst = 64;
  SoftmaxCase f({kTokens, kDim});
  SoftmaxHead few = f.head();
  few.tokens = kKeys;
  few.queries = kTokens;
  f.mask.assign(kTokens, 0);
  std::fill_n(f.mask.begin(), kKeys, 1.0f);
  const std::vector<float> masked = softmax_forward(f.head(), kDim).y;
  std::vector<float> y(kTokens * kDim), scratch(softmax_scratch(kTokens, kDim));
  softmax_attention(few, {y.data(), kDim}, scratch.data());
  EXPECT_LT(test::distance(y, test::doubles(masked)), 1e-6);
  SoftmaxHead part = few;
  part.q.data = few.q.row(kFirst);
  part.queries = 5;
  std::vector<float> own(part.queries * kDim);
  softmax_attention(part, {own.data(), kDim}, scratch.data());
  EXPECT_TRUE(std::equal(own.begin(), own.end(), y.begin() + kFirst * kDim));
}

TEST(SoftmaxAttention, AgreesWithDoublePrecisionForEveryTarget) {
  test::for_every_target([] {
    for (const int64_t n : {1, 2, 7, 24, 50, 128, 129, 197, 300}) {
      for (const int64_t d : {1, 7, 32, 64}) {
        check_softmax({n, d});
        if (n > 5) check_softmax({n, d, 1, true});
      }
    }
  });
}

TEST(SoftmaxAttention, SurvivesLargeScores) {
  test::for_every_target([] {
    check_softmax({50, 32, 30});
    check_softmax({200, 32, 30});
  });
}

TEST(SoftmaxAttention, GradientsAgreeWithThePlainFormInDouble) {
  test::for_every_target([] {
    for (const int64_t n : {1, 2, 7, 64, 130, 300}) {
      for (const int64_t d : {1, 7, 32}) {
        check_softmax_gradient({n, d});
        if (n > 5) check_softmax_gradient({n, d, 1, true});
      }
    }
  });
}

TEST(SoftmaxAttention, WithoutARealKeyIsZeroAndHasNoGradient) {
  SoftmaxCase f({140, 8});
  f.mask.assign(140, 0);
  const SoftmaxForward forward = softmax_forward(f.head(), 8);
  EXPECT_EQ(test::largest_of(forward.y), 0);
  const auto gradient = softmax_backward(f.head(), forward, test::normal_floats(140 * 8, 1));
  for (const auto& values : {gradient.q, gradient.k, gradient.v}) {
    EXPECT_EQ(test::largest_of(values), 0);
  }
}

// Values that are the unit vectors make the weights themselves the result.
TEST(SoftmaxAttention, DropsTheSameWeightsForwardAndBackward) {
  constexpr int64_t kTokens = 150;
  SoftmaxCase f({kTokens, kTokens, 0.3});
  std::fill(f.v.begin(), f.v.end(), 0.0f);
  for (int64_t i = 0; i < kTokens; ++i) f.v[i * kTokens + i] = 1;
  const std::vector<float> whole = softmax_forward(f.head(), kTokens).y;
  SoftmaxHead head = f.head();
  head.dropout = 0.25f;
  head.seed = 77;
  const SoftmaxForward dropped = softmax_forward(head, kTokens);
  int64_t zeros = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    zeros += dropped.y[i] == 0 ? 1 : 0;
    if (dropped.y[i] != 0) {
      ASSERT_NEAR(dropped.y[i], whole[i] / 0.75f, 1e-6f);
    }
  }
  EXPECT_NEAR(static_cast<double>(zeros) / static_cast<double>(whole.size()), 0.25, 0.01);
  // dV = P'ᵀ·dY of unit vectors is P' transposed.
  const auto gradient = softmax_backward(head, dropped, f.v);
  for (int64_t i = 0; i < kTokens; ++i) {
    for (int64_t j = 0; j < kTokens; ++j) {
      ASSERT_NEAR(gradient.v[j * kTokens + i], dropped.y[i * kTokens + j], 1e-6f);
    }
  }
  head.seed = 78;
  EXPECT_NE(softmax_forward(head, kTokens).y, dropped.y);
}

TEST(SoftmaxAttention, WorksInScratchThatGrowsWithTheTokensOnly) {
  for (const auto scratch : {softmax_scratch, softmax_backward_scratch}) {
    const double ratio = static_cast<double>(scratch(50'176, 32)) / scratch(3136, 32);
    EXPECT_LT(ratio, 16 * 1.02);
  }
}

}  // namespace
}  // namespace soft
