#include "kernels/quantize.h"

#include "kernel_case.h"

namespace soft {
namespace {

TEST(Quantize, RoundsToTheNearestByteAndClamps) {
  const std::vector<float> x{0,     0.5f,   -0.5f, 0.26f, 1e9f,  -1e9f,
                             63.4f, -64.1f, 63.6f, 3e38f, -3e38f};
  test::for_every_target([&] {
    std::vector<uint8_t> bytes(x.size() + 1, 77);
    const auto count = static_cast<int64_t>(x.size());
    quantize({0.5f, 128}, 1, count, {x.data(), count}, bytes.data(), count);
    const std::vector<uint8_t> expected{128, 129, 127, 129, 255, 0, 255, 0, 255, 255, 0, 77};
    EXPECT_EQ(bytes, expected);
  });
}

TEST(Quantize, ComesBackWithinHalfAStepOnOddSizes) {
  test::for_every_target([] {
    for (const int64_t cols : {1, 7, 16, 33}) {
      const ByteScale scale{0.031f, 101};
      const auto x = test::normal_floats(3 * cols, 5);
      std::vector<uint8_t> bytes(3 * (cols + 2), 9);
      quantize(scale, 3, cols, {x.data(), cols}, bytes.data(), cols + 2);
      for (int64_t i = 0; i < 3 * cols; ++i) {
        const float clamped = std::clamp(x[i], scale.lowest(), scale.highest());
        const int byte = bytes[i / cols * (cols + 2) + i % cols];
        ASSERT_NEAR(scale.scale * static_cast<float>(byte - scale.zero), clamped,
                    0.5 * scale.scale + 1e-6);
      }
      ASSERT_EQ(bytes[cols], 9);
    }
  });
}

TEST(Quantize, OfRowsTakesEachRowsExtremes) {
  test::for_every_target([] {
    for (const int64_t cols : {1, 7, 16, 33, 70}) {
      auto x = test::normal_floats(4 * cols, 5);
      for (int64_t j = 0; j < cols; ++j) {
        x[cols + j] = 2 + std::abs(x[cols + j]);  // 0 belongs to the range though no value is below
        x[2 * cols + j] = 0;
        x[3 * cols + j] *= 1e4f;
      }
      std::vector<uint8_t> bytes(4 * cols), expected(4 * cols);
      std::vector<ByteScale> scales(4);
      quantize_rows(4, cols, {x.data(), cols}, nullptr, bytes.data(), cols, scales.data());
      for (int64_t i = 0; i < 4; ++i) {
        const auto [least, most] = std::minmax_element(&x[i * cols], &x[i * cols] + cols);
        const ByteScale scale = byte_scale(std::min(*least, 0.0f), std::max(*most, 0.0f));
        EXPECT_EQ(scales[i].scale, scale.scale);
        EXPECT_EQ(scales[i].zero, scale.zero);
        quantize(scale, 1, cols, {&x[i * cols], cols}, &expected[i * cols], cols);
      }
      EXPECT_EQ(bytes, expected);
      EXPECT_EQ(scales[1].zero, 0);
      EXPECT_EQ(scales[2].scale, 1);
    }
  });
}

TEST(Quantize, OfRowsLessTheirMeanIsTheSameOfTheDifference) {
  test::for_every_target([] {
    for (const int64_t cols : {1, 7, 16, 33, 70}) {
      const auto x = test::normal_floats(3 * cols, 5), mean = test::normal_floats(cols, 6, 3.0);
      std::vector<float> less(x);
      for (int64_t i = 0; i < 3 * cols; ++i) less[i] -= mean[i % cols];
      std::vector<uint8_t> bytes(3 * cols), expected(3 * cols);
      std::vector<ByteScale> scales(3), expected_scales(3);
      quantize_rows(3, cols, {x.data(), cols}, mean.data(), bytes.data(), cols, scales.data());
      quantize_rows(3, cols, {less.data(), cols}, nullptr, expected.data(), cols,
                    expected_scales.data());
      EXPECT_EQ(bytes, expected);
      for (int64_t i = 0; i < 3; ++i) {
        EXPECT_EQ(scales[i].scale, expected_scales[i].scale);
        EXPECT_EQ(scales[i].zero, expected_scales[i].zero);
      }
    }
  });
}

TEST(Quantize, OfGeluIsGeluThenQuantize) {
  test::for_every_target([] {
    for (const GeluForm form : {GeluForm::kErf, GeluForm::kTanh}) {
      const int64_t cols = 37;
      const auto x = test::normal_floats(2 * cols, 3, 2.0), bias = test::normal_floats(cols, 4);
      std::vector<float> y(x.size());
      std::vector<uint8_t> fused(x.size()), apart(x.size());
      const Gelu shape{form, 2, cols, bias.data()};
      quantize_gelu({0.02f, 9}, shape, {x.data(), cols}, fused.data(), cols);
      gelu(shape, {x.data(), cols}, {y.data(), cols});
      quantize({0.02f, 9}, 2, cols, {y.data(), cols}, apart.data(), cols);
      EXPECT_EQ(fused, apart);
    }
  });
}

}  // namespace
}  // namespace soft
