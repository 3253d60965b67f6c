#include "weights/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/support.h"

namespace soft {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

// The definition of IEEE binary16, in arithmetic instead of bits.
double value_of_half(uint16_t half) {
  const int exponent = half >> 10 & 31;
  const int fraction = half & 1023;
  const double sign = half & 0x8000 ? -1 : 1;
  if (exponent == 31) return fraction == 0 ? sign * kInf : NAN;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

TEST(Half, EveryValueWidensExactlyAndComesBack) {
  for (int bits = 0; bits <= 0xffff; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const double expected = value_of_half(half);
    const float widened = half_to_float(half);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(widened));
      EXPECT_TRUE(std::isnan(half_to_float(float_to_half(widened))));
      continue;
    }
    ASSERT_EQ(widened, expected) << bits;
    ASSERT_EQ(std::signbit(widened), std::signbit(expected)) << bits;
    ASSERT_EQ(float_to_half(widened), half) << bits;
  }
}

// Between each pair of neighbours: the midpoint goes to the even one, its own neighbours to theirs.
TEST(Half, NarrowingRoundsToNearestTiesToEven) {
  for (int bits = 0; bits < 0x7bff; ++bits) {
    const auto below = static_cast<uint16_t>(bits);
    const auto above = static_cast<uint16_t>(bits + 1);
    const auto middle =
        static_cast<float>((value_of_half(below) + value_of_half(above)) / 2);  // exact
    ASSERT_EQ(float_to_half(middle), bits % 2 == 0 ? below : above) << bits;
    ASSERT_EQ(float_to_half(std::nextafter(middle, 0.0f)), below) << bits;
    ASSERT_EQ(float_to_half(std::nextafter(middle, kInf)), above) << bits;
    ASSERT_EQ(float_to_half(-middle), 0x8000 | (bits % 2 == 0 ? below : above)) << bits;
  }
}

TEST(Half, BecomesInfiniteFrom65520) {
  EXPECT_EQ(float_to_half(std::nextafter(65520.0f, 0.0f)), 0x7bff);
  EXPECT_EQ(float_to_half(65520.0f), 0x7c00);
  EXPECT_EQ(float_to_half(-kInf), 0xfc00);
}

TEST(Bfloat, NarrowingRoundsToNearestTiesToEven) {
  for (uint32_t bits = 0; bits < 0x7f80; ++bits) {
    const auto below = static_cast<uint16_t>(bits);
    const auto above = static_cast<uint16_t>(bits + 1);
    const uint32_t middle_bits = bits << 16 | 0x8000u;
    float middle;
    std::memcpy(&middle, &middle_bits, sizeof(middle));
    ASSERT_EQ(float_to_bfloat(bfloat_to_float(below)), below);
    ASSERT_EQ(float_to_bfloat(middle), bits % 2 == 0 ? below : above) << bits;
    ASSERT_EQ(float_to_bfloat(std::nextafter(middle, 0.0f)), below) << bits;
    ASSERT_EQ(float_to_bfloat(std::nextafter(middle, kInf)), above) << bits;
  }
  EXPECT_TRUE(std::isnan(bfloat_to_float(float_to_bfloat(NAN))));
}

TEST(ToFloats, ReadsViewsThatAreNotAligned) {
  const double values[2] = {0.5, -1e300};
  std::string bytes(1 + sizeof(values), '\0');
  std::memcpy(&bytes[1], values, sizeof(values));
  const TensorView view{DType::kF64, {2}, reinterpret_cast<const uint8_t*>(bytes.data()) + 1};
  EXPECT_EQ(to_floats(view), (std::vector<float>{0.5f, -kInf}));
}

TEST(ToFloats, RefusesIntegers) {
  const int64_t values[1] = {3};
  const TensorView view{DType::kI64, {1}, reinterpret_cast<const uint8_t*>(values)};
  EXPECT_THAT(test::error_of([&] { to_floats(view); }), testing::HasSubstr("I64"));
}

}  // namespace
}  // namespace soft
