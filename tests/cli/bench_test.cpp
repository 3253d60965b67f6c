#include "base/json.h"
#include "cli/weights_file.h"
#include "support/support.h"

namespace soft {
namespace {

using test::Outcome;
using test::run_soft;
using testing::HasSubstr;

Json rows_of(const std::vector<std::string>& arguments) {
  const Outcome outcome = run_soft(arguments);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return Json::parse(outcome.out, nullptr, false);
}

TEST(BenchModel, PrintsARowPerBatchWithTheKeysOfTheContract) {
  const Json rows = rows_of({"bench", "model", "--model", "soft-nano", "--batch", "1,3", "--repeat",
                             "2", "--threads", "1", "--json"});
  ASSERT_EQ(rows.size(), 2u);
  for (const char* key :
       {"model", "engine", "batch", "threads", "images_per_second", "ms_median", "ms_best"}) {
    EXPECT_TRUE(rows[0].contains(key)) << key;
  }
  EXPECT_EQ(rows[0].at("engine"), "native");
  EXPECT_EQ(rows[0].at("threads"), 1);
  EXPECT_EQ(rows[1].at("batch"), 3);
  const double rate = rows[1].at("images_per_second"), median = rows[1].at("ms_median");
  EXPECT_NEAR(rate * median, 3000, 1e-6);
  EXPECT_LE(rows[1].at("ms_best").get<double>(), median);
}

TEST(BenchModel, TakesAWeightsFileAndASize) {
  const test::TemporaryFolder folder;
  test::write_weights(folder.path("w.safetensors"), find_model("soft-nano"));
  const Json rows = rows_of({"bench", "model", "--weights", folder.path("w.safetensors"), "--size",
                             "40x48", "--repeat", "1", "--json"});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("model"), "soft-nano");
  EXPECT_EQ(rows[0].at("size"), "40x48");
}

TEST(BenchModel, WritesTheSameRowsAsCsv) {
  const test::TemporaryFolder folder;
  const Outcome outcome = run_soft({"bench", "model", "--model", "soft-nano", "--repeat", "1",
                                    "--csv", folder.path("rows.csv")});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("images_per_second"));
  EXPECT_THAT(
      test::read_file(folder.path("rows.csv")),
      testing::StartsWith("model,engine,batch,threads,images_per_second,ms_median,ms_best,"));
}

TEST(BenchModel, RefusesWhatItCannotMeasure) {
  const auto refused = [](std::vector<std::string> arguments, int code, const char* part) {
    arguments.insert(arguments.begin(), {"bench", "model", "--repeat", "1"});
    const Outcome outcome = run_soft(arguments);
    EXPECT_EQ(outcome.exit_code, code) << part;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(part));
  };
  refused({"--model", "soft-nanno"}, 2, "did you mean 'soft-nano'");
  refused({"--batch", "0"}, 2, "--batch");
  refused({"--batch", "1,x"}, 2, "--batch");
  refused({"--size", "31"}, 2, "--size");
  refused({"--compare", "--engine", "torch"}, 2, "--engine excludes --compare");
  refused({"--csv", "/nowhere/rows.csv"}, 1, "there is no folder");
  refused({"--model", "deit-small", "--engine", "native"}, 1, "use --engine torch");
}

TEST(BenchRoofline, TellsWhatTheMachineAllowsAndWhatAModelReaches) {
  const Json rows = rows_of(
      {"bench", "roofline", "--model", "soft-nano", "--batch", "2", "--repeat", "1", "--json"});
  ASSERT_EQ(rows.size(), 5u);
  double peak = 0;
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(rows[i].at("what").get<std::string>(), testing::StartsWith("matmul "));
    peak = std::max(peak, rows[i].at("gflops").get<double>());
  }
  EXPECT_EQ(rows[3].at("what"), "memory triad");
  EXPECT_GT(rows[3].at("gigabytes_per_second"), 0);
  EXPECT_EQ(rows[4].at("model"), "soft-nano");
  EXPECT_NEAR(rows[4].at("roofline_share"), rows[4].at("gflops").get<double>() / peak, 1e-9);
}

#if SOFT_WITH_TORCH
TEST(BenchModel, ComparesTheEnginesInOneRun) {
  const Json rows =
      rows_of({"bench", "model", "--model", "soft-nano", "--compare", "--repeat", "2", "--json"});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].at("engine"), "native");
  EXPECT_EQ(rows[1].at("engine"), "torch");
  EXPECT_EQ(rows[2].at("engine"), "torch-plain");
  EXPECT_EQ(rows[2].at("speedup"), 1.0);
  const Outcome table =
      run_soft({"bench", "model", "--model", "soft-nano", "--compare", "--repeat", "1"});
  EXPECT_THAT(table.out, HasSubstr("batch 1: native is "));
}

TEST(BenchModel, ComparesWhatRemainsWhenTheNativeEngineCannotTakePart) {
  const Outcome outcome = run_soft({"bench", "model", "--model", "soft-nano", "--attention",
                                    "softmax", "--compare", "--repeat", "1", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("comparing the others"));
  EXPECT_EQ(Json::parse(outcome.out).size(), 2u);
}

TEST(BenchTrain, ComparesAStepOnTheKernelsWithThePlainOne) {
  const test::Outcome outcome = run_soft({"bench", "train", "--model", "soft-pico", "--batch", "2",
                                          "--compare", "--repeat", "1", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json rows = Json::parse(outcome.out);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("engine"), "torch");
  EXPECT_EQ(rows[1].at("engine"), "torch-plain");
  EXPECT_GT(rows[0].at("images_per_second").get<double>(), 0);
}
#endif

}  // namespace
}  // namespace soft
