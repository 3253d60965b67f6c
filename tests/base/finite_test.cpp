#include "base/finite.h"

#include <cmath>
#include <vector>

#include "support/support.h"

namespace soft {
namespace {

TEST(AllFinite, FindsOneBadValueWhereverItIs) {
  for (const size_t count : {1, 7, 64, 1001}) {
    std::vector<float> values(count, 3e38f);
    EXPECT_TRUE(all_finite(values.data(), static_cast<int64_t>(count)));
    for (const float bad : {NAN, INFINITY, -INFINITY}) {
      for (const size_t at : {size_t{0}, count / 2, count - 1}) {
        values[at] = bad;
        EXPECT_FALSE(all_finite(values.data(), static_cast<int64_t>(count)));
        values[at] = 0;
      }
    }
  }
  EXPECT_TRUE(all_finite(nullptr, 0));
}

TEST(AllFinite, PlacesAreCountedFromOne) {
  EXPECT_EQ(layer_place(0, 1), "layer 2 of stage 1");
  EXPECT_THAT(test::error_of([] { fail_not_finite(embedding_place(3)); }),
              testing::HasSubstr("the patch embedding of stage 4 is the first"));
}

}  // namespace
}  // namespace soft
