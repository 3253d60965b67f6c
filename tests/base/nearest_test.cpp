#include "base/nearest.h"

#include "support/support.h"

namespace soft {
namespace {

TEST(EditDistance, CountsInsertionsDeletionsAndReplacements) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("abc", ""), 3);
  EXPECT_EQ(edit_distance("same", "same"), 0);
  EXPECT_EQ(edit_distance("flaw", "lawn"), edit_distance("lawn", "flaw"));
}

TEST(Nearest, FindsTheTypoAndKeepsSilentWhenNothingIsNear) {
  EXPECT_EQ(nearest("modles", {"info", "models"}), "models");
  EXPECT_EQ(nearest("zzzzzz", {"info", "models"}), "");
  EXPECT_EQ(nearest("x", {}), "");
}

TEST(Nearest, ListsTheNearOnesClosestFirstAndNoMoreThanThree) {
  EXPECT_THAT(near_names("soft-tnny", {"soft-nano", "soft-tiny", "deit-small"}),
              testing::ElementsAre("soft-tiny", "soft-nano"));
  EXPECT_THAT(near_names("kernels", {"heads", "value_kernels"}),
              testing::ElementsAre("value_kernels"));
  EXPECT_EQ(near_names("abcd", {"abce", "abcf", "abcg", "abch"}).size(), 3u);
}

TEST(Hint, IsReadyToAppend) {
  EXPECT_EQ(hint("heds", {"heads", "seeds"}), " (did you mean 'heads' or 'seeds'?)");
  EXPECT_EQ(hint("aa", {"ab", "ac", "ad"}), " (did you mean 'ab', 'ac' or 'ad'?)");
  EXPECT_EQ(hint("soft-tinny", {"soft-tiny"}), " (did you mean 'soft-tiny'?)");
  EXPECT_EQ(hint("zzzzzz", {"soft-tiny"}), "");
}

}  // namespace
}  // namespace soft
