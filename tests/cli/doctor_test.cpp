#include "base/json.h"
#include "support/support.h"

namespace soft {
namespace {

using test::Outcome;
using test::run_soft;
using testing::HasSubstr;

TEST(Doctor, AnswersForPeople) {
  const Outcome outcome = run_soft({"doctor"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* part : {"CPU", "Highway", "oneDNN", "threads", "LibTorch", "All is well"}) {
    EXPECT_THAT(outcome.out, HasSubstr(part));
  }
}

TEST(Doctor, JsonSaysThatAllIsWellAndOnWhatMachine) {
  const Outcome outcome = run_soft({"doctor", "--json", "--threads", "1"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json answer = Json::parse(outcome.out);
  EXPECT_EQ(answer.at("ok"), true);
  EXPECT_EQ(answer.at("threads"), 1);
  EXPECT_GE(answer.at("cores").get<int>(), 1);
  EXPECT_NE(answer.at("cpu"), "");
  EXPECT_NE(answer.at("highway"), "");
  EXPECT_THAT(answer.at("onednn").get<std::string>(), testing::ContainsRegex("^[0-9]+\\.[0-9]+"));
  EXPECT_EQ(answer.at("torch").at("present"), bool{SOFT_WITH_TORCH});
}

#if SOFT_WITH_TORCH
TEST(Doctor, ProbesTheGeluGradientAndNamesTheCure) {
  const Json torch = Json::parse(run_soft({"doctor", "--json"}).out).at("torch");
  EXPECT_THAT(torch.at("blas").get<std::string>(), HasSubstr("OpenMP"));
  ASSERT_FALSE(torch.at("defects").empty());
  for (const Json& defect : torch.at("defects")) {
    EXPECT_TRUE(!defect.at("found") || defect.at("cured")) << defect;
    EXPECT_NE(defect.at("cure"), "");
  }
}
#endif

}  // namespace
}  // namespace soft
