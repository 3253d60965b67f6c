#include "study/child.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <vector>

#include "base/error.h"

namespace soft {
namespace {

using testing::HasSubstr;

TEST(Child, AnswersWithWhatItsWorkReturned) {
  const ChildResult result = in_child([] { return Json{{"answer", 42}}; });
  ASSERT_TRUE(result.ok()) << result.failure;
  EXPECT_EQ(result.value.at("answer"), 42);
}

TEST(Child, LeavesTheParentAsItWas) {
  int touched = 0;
  in_child([&] { return Json(++touched); });
  EXPECT_EQ(touched, 0);
}

TEST(Child, ALongAnswerArrivesWhole) {
  const ChildResult result = in_child([] { return Json(std::string(1'000'000, 'x')); });
  EXPECT_EQ(result.value.get<std::string>().size(), 1'000'000U);
}

TEST(Child, ReportsWhatWasThrown) {
  const ChildResult result = in_child([]() -> Json { fail("no such {}", "thing"); });
  EXPECT_EQ(result.failure, "no such thing");
}

TEST(Child, ReportsItsOwnDeath) {
  const ChildResult result = in_child([]() -> Json { std::abort(); });
  EXPECT_THAT(result.failure, HasSubstr("signal"));
}

TEST(PeakGrowth, SeesMemoryThatIsTouchedAndGivenBack) {
  constexpr size_t kBytes = size_t{64} << 20;
  const int64_t growth = peak_growth([] {
    std::vector<char> block(kBytes, 1);
    volatile char* touched = block.data();
    touched[kBytes - 1] = 2;
  });
  EXPECT_GE(growth, static_cast<int64_t>(0.9 * kBytes));
}

}  // namespace
}  // namespace soft
