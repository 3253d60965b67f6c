#include "data/natural.h"

#include <algorithm>
#include <string>
#include <vector>

#include "support/support.h"

namespace soft {
namespace {

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end(), natural_less);
  return names;
}

TEST(NaturalOrder, CountsNumbersInsideNames) {
  EXPECT_THAT(sorted({"class10", "class9", "class1", "class100"}),
              testing::ElementsAre("class1", "class9", "class10", "class100"));
  EXPECT_THAT(sorted({"10", "9", "x", "0"}), testing::ElementsAre("0", "9", "10", "x"));
  EXPECT_THAT(sorted({"a2b10", "a2b9", "a1b99"}), testing::ElementsAre("a1b99", "a2b9", "a2b10"));
}

TEST(NaturalOrder, NumbersMayBeLongerThanAnyInteger) {
  EXPECT_THAT(sorted({"99999999999999999999999", "100000000000000000000000"}),
              testing::ElementsAre("99999999999999999999999", "100000000000000000000000"));
}

TEST(NaturalOrder, IgnoresCaseAndLeadingZerosUntilNothingElseDiffers) {
  EXPECT_THAT(sorted({"Bird", "ant", "Cat"}), testing::ElementsAre("ant", "Bird", "Cat"));
  EXPECT_THAT(sorted({"a2", "a01", "a1"}), testing::ElementsAre("a01", "a1", "a2"));
  EXPECT_FALSE(natural_less("same", "same"));
}

TEST(NaturalOrder, AShorterTextComesFirstWhateverFollowsIt) {
  EXPECT_THAT(sorted({"ab-", "ab1", "ab", "abc"}), testing::ElementsAre("ab", "ab1", "ab-", "abc"));
}

TEST(NaturalOrder, SynsetsKeepImageNetsOrder) {
  EXPECT_THAT(sorted({"n02119789", "n01440764", "n01443537"}),
              testing::ElementsAre("n01440764", "n01443537", "n02119789"));
}

}  // namespace
}  // namespace soft
