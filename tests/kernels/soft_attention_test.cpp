#include "kernels/soft_attention.h"

#include "kernel_case.h"
#include "kernels/plain/inverse.h"
#include "kernels/plain/soft_attention.h"

namespace soft {
namespace {

using test::normal_floats;

// A head with its arrays inside wider rows, as in [n, C], and the same case in double.
struct Fixture {
  int64_t stride;
  std::vector<float> q, v, landmark, token_mask, landmark_mask;
  SoftHead head;
  plain::SoftCase<double> wide;
};

Fixture make_case(int64_t n, int64_t m, int64_t d, bool masked, Normalise form, double spread = 1) {
  const double size = spread / std::sqrt(static_cast<double>(d));
  const auto q = normal_floats(n * d, 1, 3 * size), v = normal_floats(n * d, 2);
  Fixture f{d + 3,
            test::spread(q, n, d, d + 3),
            test::spread(v, n, d, d + 3),
            normal_floats(m * d, 3, 1.5 * size),
            {},
            {},
            {},
            {}};
  const float scale = 0.42f;
  if (masked) {
    for (int64_t i = 0; i < n; ++i) f.token_mask.push_back(i % 5 == 3 || 4 * i > 3 * n ? 0 : 1);
    for (int64_t j = 0; j < m; ++j) f.landmark_mask.push_back(j % 4 == 2 ? 0 : 1);
  }
  f.head = {n, m, d, {}, {}, nullptr, scale, nullptr, nullptr};
  f.wide = {n,
            m,
            d,
            test::doubles(q),
            test::doubles(v),
            test::doubles(f.landmark),
            test::doubles(f.token_mask),
            test::doubles(f.landmark_mask),
            scale,
            form};
  return f;
}

// The head with its pointers set, once the fixture has found its final place.
SoftHead head_of(const Fixture& f) {
  SoftHead head = f.head;
  head.q = {f.q.data(), f.stride};
  head.v = {f.v.data(), f.stride};
  head.landmark = f.landmark.data();
  if (!f.token_mask.empty()) head.token_mask = f.token_mask.data();
  if (!f.landmark_mask.empty()) head.landmark_mask = f.landmark_mask.data();
  return head;
}

struct Forward {
  std::vector<float> y, inverse, gathered, sums;
  InverseReport report;
};

Forward run_forward(const SoftHead& head, const SoftOptions& options) {
  Forward out{std::vector<float>(head.tokens * head.dim, NAN),
              std::vector<float>(head.landmarks * head.landmarks),
              std::vector<float>(head.landmarks * head.dim),
              std::vector<float>(head.landmarks),
              {}};
  std::vector<float> memory(soft_attention_size(head), NAN);
  out.report = soft_attention(head, options, {out.y.data(), head.dim}, memory.data(),
                              {out.inverse.data(), out.gathered.data(), out.sums.data()});
  return out;
}

plain::SoftGradients<float> run_backward(const SoftHead& head, const SoftOptions& options,
                                         const Forward& forward, const std::vector<float>& grad_y) {
  const int64_t n = head.tokens, d = head.dim;
  plain::SoftGradients<float> out{std::vector<float>(n * d, NAN), std::vector<float>(n * d, NAN),
                                  std::vector<float>(head.landmarks * d, NAN)};
  std::vector<float> memory(soft_backward_size(head), NAN);
  soft_attention_backward(head, options,
                          {forward.inverse.data(),
                           forward.gathered.data(),
                           {grad_y.data(), d},
                           {out.q.data(), d},
                           {out.v.data(), d},
                           out.landmark.data(),
                           forward.sums.data(),
                           {forward.y.data(), d}},
                          memory.data());
  return out;
}

struct Sizes {
  int64_t n, m, d;
};
constexpr Sizes kSizes[] = {{1, 1, 1},    {5, 1, 7},    {3, 7, 32},    {64, 12, 32},  {130, 49, 32},
                            {200, 20, 7}, {77, 49, 64}, {600, 16, 32}, {2000, 49, 32}};

constexpr Normalise kNormalisations[] = {Normalise::kNone, Normalise::kCore, Normalise::kRows,
                                         Normalise::kMean};

template <class Check>
void for_every_case(const Check& check) {
  test::for_every_target([&] {
    for (const auto [n, m, d] : kSizes) {
      for (const bool masked : {false, true}) {
        for (const Normalise form : kNormalisations) {
          SCOPED_TRACE(testing::Message()
                       << n << " tokens, " << m << " landmarks, dim " << d
                       << (masked ? ", masked" : "") << ", form " << static_cast<int>(form));
          check(make_case(n, m, d, masked, form), SoftOptions{{}, form});
        }
      }
    }
  });
}

TEST(SoftAttention, AgreesWithThePlainFormInDouble) {
  for_every_case([](const Fixture& f, const SoftOptions& options) {
    const Forward result = run_forward(head_of(f), options);
    const auto a = plain::landmark_kernel(f.wide);
    const auto x = plain::newton_inverse(options.inverse, f.wide.m, a);
    const auto expected = plain::soft_attention(f.wide, x);
    ASSERT_LT(test::distance(result.inverse, x), 1e-3);
    ASSERT_LT(test::distance(result.y, expected), 1e-4 * (1 + test::largest_of(expected)));
  });
}

TEST(SoftAttention, GradientsAgreeWithThePlainFormInDouble) {
  for_every_case([](const Fixture& f, const SoftOptions& options) {
    const SoftHead head = head_of(f);
    const Forward forward = run_forward(head, options);
    const auto grad_y = normal_floats(head.tokens * head.dim, 9);
    const auto result = run_backward(head, options, forward, grad_y);
    const auto expected = plain::soft_attention_backward(f.wide, test::doubles(forward.inverse),
                                                         test::doubles(grad_y));
    const auto close = [](const std::vector<float>& a, const std::vector<double>& b) {
      return test::distance(a, b) / (1e-2 + test::largest_of(b));  // one token's are all rounding
    };
    ASSERT_LT(close(result.q, expected.q), 1e-4);
    ASSERT_LT(close(result.v, expected.v), 1e-4);
    ASSERT_LT(close(result.landmark, expected.landmark), 1e-4);
  });
}

// Every entry of K1 far below what a float can hold, and more so from token to token.
Fixture far_case(int64_t n, bool masked) {
  Fixture f = make_case(n, 20, 32, masked, Normalise::kRows, 0.3);
  for (int64_t i = 0; i < n; ++i) {
    const float away = 55 + static_cast<float>(i * 7 % 23) / 10;
    f.q[i * f.stride] += away;
    f.wide.q[i * 32] += static_cast<double>(away);
  }
  return f;
}

TEST(SoftAttention, OfTokensFarFromEveryLandmarkLivesOnByRows) {
  test::for_every_target([] {
    for (const int64_t n : {1, 64, 700, 6000}) {
      for (const bool masked : {false, true}) {
        const Fixture f = far_case(n, masked);
        const SoftHead head = head_of(f);
        const SoftOptions options{{}, Normalise::kRows};
        const Forward forward = run_forward(head, options);
        const auto x = test::doubles(forward.inverse);
        const auto expected = plain::soft_attention(f.wide, x);
        EXPECT_GT(test::largest_of(expected), 0.05);
        // |q|² is several hundred: its last bits are seen in the exponents.
        ASSERT_LT(test::distance(forward.y, expected), 2e-3 * test::largest_of(expected)) << n;
        const auto grad_y = normal_floats(n * head.dim, 9);
        const auto result = run_backward(head, options, forward, grad_y);
        const auto gradient = plain::soft_attention_backward(f.wide, x, test::doubles(grad_y));
        const auto close = [](const std::vector<float>& a, const std::vector<double>& b) {
          return test::distance(a, b) / (1e-1 + test::largest_of(b));
        };
        ASSERT_LT(close(result.q, gradient.q), 5e-3) << n;
        ASSERT_LT(close(result.v, gradient.v), 5e-3) << n;
        ASSERT_LT(close(result.landmark, gradient.landmark), 5e-3) << n;
      }
    }
  });
}

class SoftInEveryForm : public testing::TestWithParam<Normalise> {};
INSTANTIATE_TEST_SUITE_P(Forms, SoftInEveryForm, testing::ValuesIn(kNormalisations));

TEST_P(SoftInEveryForm, GivesTheSameBitsWhetherItsPhasesRunInOrderOrNot) {
  const Normalise form = GetParam();
  const Fixture f = make_case(1700, 49, 32, true, form);
  const SoftHead head = head_of(f);
  const Forward whole = run_forward(head, {{}, form});
  std::vector<float> memory(soft_state_size(head)), tile(soft_tile_size(head)), y(whole.y.size());
  SoftState state = soft_state(head, memory.data());
  soft_prepare(head, {{}, form}, state);
  const int64_t chunks = token_chunks(head.tokens);
  ASSERT_EQ(chunks, 4);
  for (int64_t chunk = chunks; chunk-- > 0;) soft_gather(head, state, chunk, tile.data());
  soft_mix(head, state);
  for (int64_t chunk = chunks; chunk-- > 0;) {
    soft_scatter(head, state, chunk, {y.data(), head.dim}, tile.data());
  }
  EXPECT_EQ(y, whole.y);
}

TEST_P(SoftInEveryForm, KeepsNoBitOfMaskedTokensAndOfPaddingBehindThem) {
  const Normalise form = GetParam();
  test::for_every_target([form] {
    for (const int64_t real : {3, 64, 100, 700}) {
      const Fixture f = make_case(real + 1600, 20, 32, false, form);
      SoftHead head = head_of(f);
      head.tokens = real;
      const Forward alone = run_forward(head, {{}, form});
      std::vector<float> mask(real + 1600, 0);
      std::fill_n(mask.begin(), real, 1.0f);
      head.token_mask = mask.data();
      for (const int64_t padding : {1, 77, 1600}) {
        head.tokens = real + padding;
        Forward padded = run_forward(head, {{}, form});
        for (size_t i = alone.y.size(); i < padded.y.size(); ++i) ASSERT_EQ(padded.y[i], 0);
        padded.y.resize(alone.y.size());
        ASSERT_EQ(padded.y, alone.y) << real << " real, " << padding << " padding";
      }
    }
  });
}

TEST_P(SoftInEveryForm, OfAnAllMaskedSequenceIsZero) {
  const Normalise form = GetParam();
  const Fixture f = make_case(40, 6, 8, false, form);
  SoftHead head = head_of(f);
  const std::vector<float> none(40, 0.0f);
  head.token_mask = none.data();
  head.landmark_mask = none.data();
  const SoftOptions options{{}, form};
  const Forward forward = run_forward(head, options);
  EXPECT_EQ(forward.y, std::vector<float>(40 * 8, 0.0f));
  const auto gradient = run_backward(head, options, forward, normal_floats(40 * 8, 1));
  EXPECT_EQ(test::largest_of(gradient.q), 0);
  EXPECT_EQ(test::largest_of(gradient.v), 0);
  EXPECT_EQ(test::largest_of(gradient.landmark), 0);
}

TEST_P(SoftInEveryForm, IsFiniteForConstantAndForHugeQueries) {
  const Normalise form = GetParam();
  for (const double spread : {0.0, 100.0}) {
    for (const Inverse mode : {Inverse::kNewton, Inverse::kNewtonAdaptive, Inverse::kNewtonPaper}) {
      const Fixture f = make_case(300, 49, 32, false, form, spread);
      const SoftHead head = head_of(f);
      const SoftOptions options{{mode}, form};
      const Forward forward = run_forward(head, options);
      const auto gradient = run_backward(head, options, forward, normal_floats(300 * 32, 1));
      EXPECT_TRUE(std::isfinite(test::largest_of(forward.y)));
      EXPECT_LE(forward.report.residual, kLargestResidual);
      for (const auto& values : {forward.y, gradient.q, gradient.v, gradient.landmark}) {
        for (const float value : values) ASSERT_TRUE(std::isfinite(value));
      }
    }
  }
}

// Every row of a matrix that is divided by the sums of its rows adds up to 1: constants stay.
TEST(SoftAttention, DividedByItsRowSumsKeepsAConstant) {
  Fixture f = make_case(130, 12, 32, true, Normalise::kRows);
  std::fill(f.v.begin(), f.v.end(), 2.5f);
  const SoftHead head = head_of(f);
  const Forward forward = run_forward(head, {{}, Normalise::kRows});
  for (int64_t i = 0; i < head.tokens * head.dim; ++i) {
    const double expected = f.token_mask[i / head.dim] == 0 ? 0 : 2.5;
    ASSERT_NEAR(forward.y[i], expected, 2.5e-3) << i / head.dim;  // sums that cancel fade a little
  }
}

// Released landmarks have norms that K1 never reaches: what is left of it differs by token only in
// its scale, which the sums divide away.
TEST(SoftAttention, DividedByItsRowSumsForgetsTheScaleOfItsKernel) {
  Fixture f = make_case(40, 6, 8, false, Normalise::kRows);
  for (float& value : f.landmark) value = 0.2f * value + 2;  // far from every token: K1 about 1e-7
  const SoftHead head = head_of(f);
  const Forward forward = run_forward(head, {{}, Normalise::kRows});
  const auto gradient =
      run_backward(head, {{}, Normalise::kRows}, forward, normal_floats(40 * 8, 1));
  EXPECT_GT(test::largest_of(forward.y), 1e-2);
  EXPECT_GT(test::largest_of(gradient.q), 1e-4);
}

}  // namespace
}  // namespace soft
