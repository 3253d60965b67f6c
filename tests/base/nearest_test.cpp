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

TEST(Hint, IsReadyToAppend) {
  EXPECT_EQ(hint("soft-tinny", {"soft-tiny"}), " (did you mean 'soft-tiny'?)");
  EXPECT_EQ(hint("zzzzzz", {"soft-tiny"}), "");
}

}  // namespace
}  // namespace soft
