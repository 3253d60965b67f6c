// `soft health`, run as people run it.
#include "base/json.h"
#include "cli/weights_file.h"
#include "support/support.h"

#if SOFT_WITH_TORCH

namespace soft {
namespace {

using test::Outcome;
using test::run_soft;
using testing::HasSubstr;

class HealthCommand : public testing::Test {
 protected:
  HealthCommand() {
    ModelSpec spec = find_model("soft-pico");
    set_field(spec, "kernel_scale", "paper");
    set_field(spec, "normalise", "rows");
    test::write_weights(folder_.path("w"), spec);
  }

  Outcome health(std::vector<std::string> more) const {
    more.insert(more.begin(), {"health", folder_.path("w")});
    return run_soft(more);
  }

  test::TemporaryFolder folder_;
};

TEST_F(HealthCommand, HasARowForEveryHead) {
  const Outcome outcome = health({"--images", "2", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json rows = Json::parse(outcome.out);
  ASSERT_EQ(rows.size(), 8u);
  std::vector<std::string> keys;
  for (const auto& [key, value] : rows[0].items()) keys.push_back(key);
  EXPECT_THAT(keys, testing::ElementsAre("stage", "layer", "head", "share", "kernel_median", "rank",
                                         "residual", "row_sum", "row_correlation"));
  EXPECT_NEAR(rows[0].at("row_sum").get<double>(), 1, 0.05);
  EXPECT_TRUE(rows[7].at("rank").is_null());  // softmax's stage has no landmarks
}

TEST_F(HealthCommand, SaysWhatEveryLayerIsWorth) {
  const Outcome outcome = health({"--data", "shapes", "--limit", "4", "--images", "2", "--json",
                                  "--plot", folder_.path("health.svg")});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json answer = Json::parse(outcome.out);
  for (const char* key : {"top1", "top1_without_attention", "top1_without_value_path"}) {
    EXPECT_TRUE(answer.at(key).is_number()) << key;
  }
  for (const Json& row : answer.at("layers")) EXPECT_TRUE(row.at("top1_without").is_number());
  EXPECT_THAT(test::read_file(folder_.path("health.svg")), HasSubstr("<svg"));
}

TEST_F(HealthCommand, SaysHowOftenAHeadFindsTheObjectOfTheCue) {
  ModelSpec spec = find_model("soft-pico");
  set_field(spec, "classes", "5");
  test::write_weights(folder_.path("five"), spec);
  const Outcome outcome = run_soft(
      {"health", folder_.path("five"), "--data", "cue", "--limit", "3", "--images", "1", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json answer = Json::parse(outcome.out);
  for (const Json& row : answer.at("layers")) {
    for (const char* key : {"from_cue", "to_cue"}) {
      EXPECT_GE(row.at(key).get<double>(), 0);
      EXPECT_LE(row.at(key).get<double>(), 100);
    }
  }
}

TEST_F(HealthCommand, PrintsATableForPeople) {
  const Outcome outcome = health({"--data", "shapes", "--limit", "3", "--images", "1"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("row_correlation"));
  EXPECT_THAT(outcome.out, HasSubstr("without attention"));
}

TEST_F(HealthCommand, RefusesTwoSourcesOfPictures) {
  const Outcome outcome = health({"--data", "shapes", "photo.png"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("give one of them"));
}

TEST_F(HealthCommand, NeedsWeightsThatAreThere) {
  const Outcome outcome = run_soft({"health", folder_.path("none")});
  EXPECT_EQ(outcome.exit_code, 1);
}

}  // namespace
}  // namespace soft

#endif
