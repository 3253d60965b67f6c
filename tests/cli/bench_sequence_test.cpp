// `soft bench attention --sequence`.
#include <algorithm>

#include "base/json.h"
#include "spec/sequence_spec.h"
#include "support/support.h"

namespace soft {
namespace {

#if SOFT_WITH_TORCH
TEST(BenchSequences, MeasuresSequencesForwardAndBack) {
  const test::TemporaryFolder folder;
  const test::Outcome outcome =
      test::run_soft({"bench", "attention", "--sequence", "--tokens", "128,256", "--repeat", "1",
                      "--plot", folder.path("a.svg"), "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json rows = Json::parse(outcome.out);
  const size_t forms = sequence_forms().size();
  const auto grows = [](const Json& row) { return row.contains("time_exponent"); };
  ASSERT_GE(rows.size(), 2 * 2 * forms + 2 * forms);  // and where SOFT begins to pay, if it does
  EXPECT_EQ(std::count_if(rows.begin(), rows.end(), grows), 2 * static_cast<int64_t>(forms));
  EXPECT_EQ(rows[0].at("tokens"), 128);
  EXPECT_EQ(rows[0].at("pass"), "forward");
  EXPECT_EQ(rows[forms].at("pass"), "step");
  EXPECT_EQ(rows[2 * forms].at("tokens"), 256);
  EXPECT_EQ(rows[1].at("attention"), "soft-released");
  for (size_t i = 0; i < 4 * forms; ++i) EXPECT_GT(rows[i].at("ms_best"), 0) << rows[i];
  EXPECT_EQ(rows[6 * forms - 1].at("pass"), "step");
  EXPECT_THAT(test::read_file(folder.path("a.svg")), testing::HasSubstr("soft-released (n^"));
}
#endif

TEST(BenchSequences, RefusesWhatItCannotMeasure) {
  const auto refused = [](const std::string& flag, const std::string& value, const char* part) {
    const test::Outcome outcome = test::run_soft({"bench", "attention", "--sequence", flag, value});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, testing::HasSubstr(part));
  };
  refused("--tokens", "100", "multiple of 64");
  refused("--attention", "sotf", "did you mean 'soft'");
}

}  // namespace
}  // namespace soft
