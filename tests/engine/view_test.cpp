// Views move nothing, or say that they would have to.
#include "engine/view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace soft {
namespace {

using Sides = std::vector<int64_t>;

TEST(View, HeadsAreStridesInsideOfRows) {
  const View fused = tokens_view(0, {5, 24});  // q, k and v of 2 heads of 4
  const View keys = narrowed(fused, 1, 8, 8);  // [5, 8]
  const View heads = permuted(*reshaped(keys, {5, 2, 4}), {1, 0, 2});
  EXPECT_EQ(heads.offset, 8);
  EXPECT_EQ(heads.shape, (Sides{2, 5, 4}));
  EXPECT_EQ(heads.strides, (Sides{4, 24, 1}));
  EXPECT_FALSE(is_rows(keys));
}

TEST(View, MergingHeadsNeedsOutputThatLiesByTokens) {
  const View by_tokens{0, 0, {2, 5, 4}, {4, 8, 1}};
  const std::optional<View> merged = reshaped(permuted(by_tokens, {1, 0, 2}), {5, 8});
  ASSERT_TRUE(merged.has_value());
  EXPECT_TRUE(is_rows(*merged));
  const View by_heads = tokens_view(0, {2, 5, 4});
  EXPECT_FALSE(reshaped(permuted(by_heads, {1, 0, 2}), {5, 8}).has_value());
}

TEST(View, MapsHaveTheirChannelsLast) {
  const View map = map_view(0, 3, {2, 5});
  EXPECT_TRUE(is_map(map));
  EXPECT_FALSE(is_rows(map));
  EXPECT_TRUE(is_rows(permuted(map, {1, 2, 0})));
  EXPECT_TRUE(is_rows(*reshaped(map_view(0, 7, {1, 1}), {7})));
  EXPECT_FALSE(reshaped(map, {30}).has_value());
}

TEST(View, AxesOfLengthOneComeAndGo) {
  const View rows = tokens_view(0, {4, 6});
  EXPECT_TRUE(lie_alike(rows, *reshaped(rows, {1, 4, 1, 6})));
  EXPECT_FALSE(reshaped(rows, {5, 6}).has_value());
  EXPECT_FALSE(reshaped(narrowed(rows, 1, 0, 3), {12}).has_value());
}

}  // namespace
}  // namespace soft
