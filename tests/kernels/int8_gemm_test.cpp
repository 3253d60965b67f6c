#include "kernels/int8_gemm.h"

#include <set>

#include "kernel_case.h"
#include "kernels/plain/int8_gemm.h"

namespace soft {
namespace {

struct Case {
  Int8Shape shape;
  int64_t rows;
  std::vector<int8_t> w;
  std::vector<uint8_t> a;  // [rows, segments, inner] and slack
};

std::vector<int8_t> random_weights(int64_t count, int64_t largest, uint64_t seed) {
  Random random(seed);
  std::vector<int8_t> weights(count);
  for (int8_t& w : weights) w = static_cast<int8_t>(random.below(2 * largest + 1) - largest);
  return weights;
}

Case random_case(const Int8Shape& shape, int64_t rows, int64_t largest) {
  Random random(7);
  const int64_t each = shape.segments * shape.inner;
  Case c{shape, rows, random_weights(shape.cols * each, largest, 8),
         std::vector<uint8_t>(rows * each + kInt8Slack)};
  for (uint8_t& a : c.a) a = static_cast<uint8_t>(random.below(256));
  return c;
}

// Integer sums below 2^24 are exact in floats: with scale 1 and bias 0 every bit must be right.
void expect_exact(const Case& c, int depth, bool relu = false) {
  const std::vector<float> one(c.shape.cols, 1.0f), nothing(c.shape.cols, 0.0f);
  std::vector<int8_t> packed(int8_packed_bytes(c.shape));
  int8_pack(c.shape, c.w.data(), packed.data());
  const ByteRows a{c.a.data(), c.shape.segments * c.shape.inner, c.shape.inner};
  std::vector<float> y(c.rows * c.shape.cols), expected(y.size());
  int8_gemm(c.shape, 0, c.rows, a, {packed.data(), one.data(), nothing.data(), depth, relu},
            {y.data(), c.shape.cols});
  plain::int8_gemm(c.shape, c.rows, a, c.w.data(), one.data(), nothing.data(), relu,
                   {expected.data(), c.shape.cols});
  EXPECT_EQ(y, expected) << c.rows << "x" << c.shape.inner << "x" << c.shape.cols << " depth "
                         << depth;
}

TEST(Int8Gemm, AddsUpExactlyOnOddSizesAtEveryDepth) {
  test::for_every_target([] {
    for (const int64_t inner : {1, 3, 4, 7, 8, 33, 64}) {
      for (const int64_t cols : {1, 8, 15, 16, 17, 40, 64, 81}) {
        for (const int64_t rows : {1, 2, 3, 4, 5, 13}) {
          for (const auto& [depth, largest] : {std::pair{0, 127}, {1, 64}, {2, 32}, {3, 127}}) {
            expect_exact(random_case({cols, inner, 1}, rows, largest), depth);
          }
        }
      }
    }
  });
}

TEST(Int8Gemm, AddsUpSegmentsAndCutsBelowZero) {
  test::for_every_target([] {
    for (const int64_t segments : {2, 3}) {
      expect_exact(random_case({19, 21, segments}, 6, 32), 2);
      expect_exact(random_case({19, 21, segments}, 6, 32), 2, true);
      expect_exact(random_case({83, 21, segments}, 7, 127), kInt8Dots, true);
    }
  });
}

TEST(Int8Gemm, TakesAScaleAndAZeroOfEachRow) {
  test::for_every_target([] {
    for (const int64_t cols : {1, 17, 64, 81}) {
      for (const auto& [depth, largest] : {std::pair{0, 127}, {2, 32}, {3, 127}}) {
        const Case c = random_case({cols, 21, 1}, 7, largest);
        const auto scale = test::normal_floats(cols, 1), bias = test::normal_floats(cols, 2);
        std::vector<int32_t> sums(cols);
        for (size_t i = 0; i < c.w.size(); ++i) sums[i / 21] += c.w[i];
        std::vector<ByteScale> scales;
        for (int i = 0; i < 7; ++i) scales.push_back({0.01f * static_cast<float>(i + 1), 40 * i});
        std::vector<int8_t> packed(int8_packed_bytes(c.shape));
        int8_pack(c.shape, c.w.data(), packed.data());
        const ByteRows a{c.a.data(), 21, 21};
        std::vector<float> y(7 * cols), expected(7 * cols);
        const Int8Weights weights{packed.data(), scale.data(), bias.data(),  depth,
                                  true,          sums.data(),  scales.data()};
        int8_gemm(c.shape, 0, 3, a, weights, {y.data(), cols});
        int8_gemm(c.shape, 3, 4, a, weights, {y.data() + 3 * cols, cols});
        plain::int8_gemm(c.shape, 7, a, c.w.data(), scale.data(), bias.data(), true,
                         {expected.data(), cols}, scales.data());
        for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], expected[i], 1e-3) << i;
      }
    }
  });
}

// What vpmaddubsw would get wrong: every product as large as it can be, all of one sign.
TEST(Int8Gemm, ExtremeValuesDoNotSaturate) {
  test::for_every_target([] {
    for (const int64_t inner : {2, 8, 64, 71}) {
      for (const int sign : {1, -1}) {
        for (const auto& [depth, weight] : {std::pair{0, 127}, {1, 64}, {2, 32}}) {
          Case c{{17, inner, 1}, 5, {}, {}};
          c.w.assign(17 * inner, static_cast<int8_t>(sign * weight));
          c.a.assign(5 * inner + kInt8Slack, 255);
          ASSERT_GE(int8_depth(c.shape, c.w.data()), depth);
          expect_exact(c, depth);
          expect_exact(c, kInt8Dots);
        }
        Case lowest{{3, inner, 1}, 2, {}, {}};
        lowest.w.assign(3 * inner, -128);
        lowest.a.assign(2 * inner + kInt8Slack, 255);
        expect_exact(lowest, 0);
        expect_exact(lowest, kInt8Dots);
      }
    }
  });
}

TEST(Int8Gemm, UsesTheWholeRangeOfANeighbourThatIsSmall) {
  test::for_every_target([] {
    Case c{{16, 8, 1}, 4, {}, std::vector<uint8_t>(4 * 8 + kInt8Slack, 255)};
    for (int i = 0; i < 16; ++i) {
      for (const int w : {127, 1, -127, -1, 0, -100, 0, 127}) c.w.push_back(static_cast<int8_t>(w));
    }
    ASSERT_EQ(int8_depth(c.shape, c.w.data()), 2);
    expect_exact(c, 2);
  });
}

TEST(Int8Gemm, DepthIsTheDeepestThatCannotOverflow) {
  const Int8Shape shape{1, 8, 1};
  const auto depth = [&](std::vector<int8_t> w) { return int8_depth(shape, w.data()); };
  EXPECT_EQ(depth({0, 0, 0, 0, 0, 0, 0, 0}), 2);
  EXPECT_EQ(depth({64, 64, 0, 0, 0, 0, 0, 0}), 2);
  EXPECT_EQ(depth({64, 64, 0, 0, 1, 0, 0, 0}), 1);   // 129 in one sum of two steps
  EXPECT_EQ(depth({64, 64, 0, 0, 0, 0, 99, 0}), 2);  // which is another sum
  EXPECT_EQ(depth({64, 64, 0, 0, -64, -64, 0, 0}), 2);
  EXPECT_EQ(depth({65, 64, 0, 0, 0, 0, 0, 0}), 0);
  EXPECT_EQ(depth({-65, -64, 0, 0, 0, 0, 0, 0}), 0);
  EXPECT_EQ(depth({127, -128, 127, -128, 0, 0, 0, 0}), 2);
}

TEST(Int8Gemm, EveryInnerIndexIsInOneSum) {
  for (const int64_t inner : {1, 2, 5, 8, 30}) {
    for (const int depth : {1, 2}) {
      std::multiset<int64_t> seen;
      for (const Int8Sum& sum : int8_sums(inner, depth))
        seen.insert(sum.index, sum.index + sum.count);
      std::multiset<int64_t> all;
      for (int64_t i = 0; i < inner; ++i) all.insert(i);
      EXPECT_EQ(seen, all);
    }
  }
}

TEST(Int8Gemm, ScalesAndShiftsEveryColumn) {
  test::for_every_target([] {
    const Case c = random_case({21, 12, 1}, 3, 32);
    const auto scale = test::normal_floats(21, 1), bias = test::normal_floats(21, 2);
    std::vector<int8_t> packed(int8_packed_bytes(c.shape));
    int8_pack(c.shape, c.w.data(), packed.data());
    std::vector<float> y(3 * 21), expected(3 * 21);
    int8_gemm(c.shape, 0, 3, {c.a.data(), 12}, {packed.data(), scale.data(), bias.data(), 2},
              {y.data(), 21});
    plain::int8_gemm(c.shape, 3, {c.a.data(), 12}, c.w.data(), scale.data(), bias.data(), false,
                     {expected.data(), 21});
    EXPECT_LT(test::distance(y, expected), 1e-6 * test::largest_of(expected));
  });
}

// Pixels of a map 4 wide, of which every other one in every other line is wanted.
TEST(Int8Gemm, WalksTheLinesOfAMap) {
  const std::vector<float> one(1, 1.0f), nothing(1, 0.0f);
  std::vector<uint8_t> map(4 * 4 * 4 + kInt8Slack, 0);
  for (int i = 0; i < 16; ++i) map[4 * i] = static_cast<uint8_t>(i);
  const std::vector<int8_t> w{1, 0, 0, 0};
  std::vector<int8_t> packed(int8_packed_bytes({1, 4, 1}));
  int8_pack({1, 4, 1}, w.data(), packed.data());
  test::for_every_target([&] {
    std::vector<float> y(3);
    int8_gemm({1, 4, 1}, 1, 3, {map.data(), 8, 0, 2, 32},
              {packed.data(), one.data(), nothing.data(), 2}, {y.data(), 1});
    EXPECT_EQ(y, (std::vector<float>{2, 8, 10}));  // of 0, 2, 8, 10
  });
}

}  // namespace
}  // namespace soft
